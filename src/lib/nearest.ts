/**
 * The `max` (default 3) candidates that `word` may be meant to be, best first; empty when none is near. Near are a candidate that contains
 * the word, best as the part after its last slash (`gpt-4o`: `openai/gpt-4o`), and one that differs by a few letters. Case does not matter.
 * Takes a few milliseconds for thousands of candidates.
 */
export function nearest(word: string, candidates: Iterable<string>, max = 3): string[] {
  const wanted = word.trim().toLowerCase()
  if (wanted === '' || wanted.length > MAX_LENGTH) return []
  const best: Array<{ candidate: string; rank: number }> = []
  for (const candidate of new Set(candidates)) {
    const worst = best.length < max ? Number.POSITIVE_INFINITY : (best.at(-1)?.rank ?? 0)
    const rank = rankOf(wanted, candidate.toLowerCase(), worst)
    if (rank === undefined || rank >= worst) continue
    best.push({ candidate, rank })
    best.sort((a, b) => a.rank - b.rank)
    if (best.length > max) best.pop()
  }
  return best.map(({ candidate }) => candidate)
}

const MAX_LENGTH = 200
const BEHIND_SLASH = 0.25
const CONTAINED = 1.5
const MAX_EDITS = 3

/** The distance of the two; `undefined` when it is too large, or not below `worst`. */
function rankOf(word: string, candidate: string, worst: number): number | undefined {
  const part = candidate.slice(candidate.lastIndexOf('/') + 1)
  if (word === candidate) return 0
  if (word === part) return BEHIND_SLASH
  const allowed = Math.min(MAX_EDITS, Math.max(1, Math.floor(word.length / 3)), worst)
  const ranks = [
    editDistance(word, candidate, allowed),
    part === candidate ? Number.POSITIVE_INFINITY : editDistance(word, part, allowed) + BEHIND_SLASH,
    contains(candidate, word) || contains(word, candidate) ? CONTAINED : Number.POSITIVE_INFINITY,
  ]
  const rank = Math.min(...ranks)
  return Number.isFinite(rank) ? rank : undefined
}

const contains = (whole: string, part: string) => part.length >= 3 && whole.includes(part)

/**
 * The Damerau–Levenshtein distance: insertions, deletions, replacements and swaps of neighbours; infinite when it is more than `allowed`. Looks
 * only at places of the two that are no further apart than that, and stops as soon as it is more.
 */
function editDistance(first: string, second: string, allowed: number): number {
  const band = Math.floor(allowed)
  if (Math.abs(first.length - second.length) > band) return Number.POSITIVE_INFINITY
  const { start, end } = commonEnds(first, second)
  const rows = first.length - start - end
  const columns = second.length - start - end
  if (rows === 0 || columns === 0) return Math.max(rows, columns)
  const codeAt = (text: string, place: number) => text.charCodeAt(start + place - 1)
  let [beforeLast, last, current] = [FAR.slice(), FAR.slice(), FAR.slice()]
  for (let column = 0; column <= Math.min(columns, band); column++) last[column] = column
  for (let row = 1; row <= rows; row++) {
    const from = Math.max(1, row - band)
    const to = Math.min(columns, row + band)
    current[from - 1] = from === 1 ? row : TOO_MANY
    current[to + 1] = TOO_MANY // of three rows before
    let least = cell(current, from - 1)
    for (let column = from; column <= to; column++) {
      const isSame = codeAt(first, row) === codeAt(second, column)
      let edits = cell(last, column - 1) + (isSame ? 0 : 1)
      edits = Math.min(edits, cell(last, column) + 1, cell(current, column - 1) + 1)
      const isSwap =
        row > 1 &&
        column > 1 &&
        codeAt(first, row) === codeAt(second, column - 1) &&
        codeAt(first, row - 1) === codeAt(second, column)
      if (isSwap) edits = Math.min(edits, cell(beforeLast, column - 2) + 1)
      current[column] = edits
      if (edits < least) least = edits
    }
    if (least > band) return Number.POSITIVE_INFINITY
    ;[beforeLast, last, current] = [last, current, beforeLast]
  }
  const edits = cell(last, columns)
  return edits <= allowed ? edits : Number.POSITIVE_INFINITY
}

/** More than any number of edits that is allowed. */
const TOO_MANY = 100

/** A row of cells of which none is known: no word is longer than this, but for what it may have too much. */
const FAR = new Uint8Array(MAX_LENGTH + MAX_EDITS + 2).fill(TOO_MANY)

const cell = (row: Uint8Array, column: number): number => row[column] ?? TOO_MANY

function commonEnds(a: string, b: string): { start: number; end: number } {
  const shorter = Math.min(a.length, b.length)
  let start = 0
  while (start < shorter && a.charCodeAt(start) === b.charCodeAt(start)) start++
  let end = 0
  while (end < shorter - start && a.charCodeAt(a.length - 1 - end) === b.charCodeAt(b.length - 1 - end)) end++
  return { start, end }
}
