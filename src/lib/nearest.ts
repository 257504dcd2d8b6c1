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
 * The Damerau–Levenshtein distance: insertions, deletions, replacements and swaps of neighbours; infinite when it is more than `allowed`.
 */
function editDistance(first: string, second: string, allowed: number): number {
  if (Math.abs(first.length - second.length) > allowed) return Number.POSITIVE_INFINITY
  const [a, b] = withoutCommonEnds(first, second)
  if (a === '' || b === '') return Math.max(a.length, b.length)
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    let least = row
    for (let column = 1; column <= b.length; column++) {
      const replaced = at(last, column - 1) + (a[row - 1] === b[column - 1] ? 0 : 1)
      const isSwap = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      const swapped = isSwap ? at(beforeLast, column - 2) + 1 : Number.POSITIVE_INFINITY
      const edits = Math.min(at(last, column) + 1, at(current, column - 1) + 1, replaced, swapped)
      current.push(edits)
      if (edits < least) least = edits
    }
    if (least > allowed) return Number.POSITIVE_INFINITY
    beforeLast = last
    last = current
  }
  const edits = at(last, b.length)
  return edits <= allowed ? edits : Number.POSITIVE_INFINITY
}

function withoutCommonEnds(a: string, b: string): [string, string] {
  const shorter = Math.min(a.length, b.length)
  let start = 0
  while (start < shorter && a[start] === b[start]) start++
  let end = 0
  while (end < shorter - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++
  return [a.slice(start, a.length - end), b.slice(start, b.length - end)]
}

const at = (row: readonly number[], column: number) => row[column] ?? Number.POSITIVE_INFINITY
