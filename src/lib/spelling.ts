import leven from 'leven'

/**
 * Returns the `max` (default 3) candidates that `word` may be a misspelling of, best first. A candidate matches if it contains the word, ideally as the
 * part after its last slash (`gpt-4o`: `openai/gpt-4o`), or if it differs by a few letters. Ignores case. Takes a few milliseconds for thousands of
 * candidates: if many are similar, only the first ones are compared.
 */
export function findNearest(word: string, candidates: Iterable<string>, max = 3): string[] {
  const requested = word.trim().toLowerCase()
  if (requested === '' || requested.length > MAX_LENGTH) return []
  const best: Array<{ candidate: string; rank: number }> = []
  const budget = { cells: MAX_CELLS }
  for (const candidate of new Set(candidates)) {
    const worst = best.length < max ? Number.POSITIVE_INFINITY : (best.at(-1)?.rank ?? 0)
    const rank = rankCandidate(requested, candidate.toLowerCase(), { worst, budget })
    if (rank === undefined || rank >= worst) continue
    best.push({ candidate, rank })
    best.sort((a, b) => a.rank - b.rank)
    if (best.length > max) best.pop()
  }
  return best.map(({ candidate }) => candidate)
}

const MAX_LENGTH = 200
const LAST_PART_RANK = 0.25
const CONTAINED_RANK = 1.5
const MAX_EDITS = 3

/** The budget for comparing letter by letter. Each pair of letters is a cell; 300,000 cells take a millisecond. */
interface ComparedCells {
  cells: number
}

const MAX_CELLS = 900_000

interface RankOptions {
  worst: number
  budget: ComparedCells
}

/** Returns the distance, or `undefined` if it is too large, or not below `worst`. */
function rankCandidate(word: string, candidate: string, { worst, budget }: RankOptions): number | undefined {
  const part = candidate.slice(candidate.lastIndexOf('/') + 1)
  if (word === candidate) return 0
  if (word === part) return LAST_PART_RANK
  const allowed = Math.min(MAX_EDITS, Math.max(1, Math.floor(word.length / 3)), worst)
  const ranks = [
    countEdits(word, candidate, { allowed, budget }),
    part === candidate ? Number.POSITIVE_INFINITY : countEdits(word, part, { allowed, budget }) + LAST_PART_RANK,
    contains(candidate, word) || contains(word, candidate) ? CONTAINED_RANK : Number.POSITIVE_INFINITY,
  ]
  const rank = Math.min(...ranks)
  return Number.isFinite(rank) ? rank : undefined
}

const contains = (text: string, part: string) => part.length >= 3 && text.includes(part)

interface EditOptions {
  allowed: number
  budget: ComparedCells
}

/** Returns the Levenshtein distance, where swapping two neighbors is one edit; infinite if it exceeds `allowed`, or if the budget is used up. */
function countEdits(word: string, other: string, { allowed, budget }: EditOptions): number {
  const most = Math.floor(allowed)
  if (Math.abs(word.length - other.length) > most) return Number.POSITIVE_INFINITY
  const [left, right] = trimCommonEnds(word, other)
  if (left.length === 2 && left[0] === right[1] && left[1] === right[0]) return 1
  if (!sharesPiece(left, right, most + 1)) return Number.POSITIVE_INFINITY
  budget.cells -= left.length * right.length
  if (budget.cells < 0) return Number.POSITIVE_INFINITY
  const distance = leven(left, right, { maxDistance: most + 1 }) // `leven` never returns more than this
  return distance > most ? Number.POSITIVE_INFINITY : distance
}

/** Removes common prefixes and suffixes, which don't change the distance. */
function trimCommonEnds(word: string, other: string): [string, string] {
  const shorter = Math.min(word.length, other.length)
  let start = 0
  while (start < shorter && word[start] === other[start]) start++
  let end = 0
  while (end < shorter - start && word[word.length - 1 - end] === other[other.length - 1 - end]) end++
  return [word.slice(start, word.length - end), other.slice(start, other.length - end)]
}

/**
 * Splits the word into `pieces` equal pieces, and returns whether `other` contains any of them. Each edit changes one piece, so with fewer edits than
 * pieces, at least one piece is unchanged.
 */
function sharesPiece(word: string, other: string, pieces: number): boolean {
  const size = Math.floor(word.length / pieces)
  if (size === 0) return true
  for (let nth = 0; nth < pieces; nth++) if (other.includes(word.slice(nth * size, (nth + 1) * size))) return true
  return false
}

/** Returns `Did you mean "a" or "b"?`, or `undefined` if there are no names. */
export function didYouMean(names: readonly string[]): string | undefined {
  return names.length > 0 ? `Did you mean ${names.map((name) => `"${name}"`).join(' or ')}?` : undefined
}
