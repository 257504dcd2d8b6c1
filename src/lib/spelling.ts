import leven from 'leven'

/**
 * Returns the `max` (default 3) candidates that `word` may be a misspelling of, best first. A candidate matches if it contains the word, ideally as the
 * part after its last slash (`gpt-4o`: `openai/gpt-4o`), or if it differs by a few letters. Ignores case. Takes a few milliseconds for thousands of
 * candidates: if many are similar, only the first ones are compared.
 */
export function findNearest(word: string, candidates: Iterable<string>, max = 3): string[] {
  const lowerCaseWord = word.trim().toLowerCase()
  if (lowerCaseWord === '' || lowerCaseWord.length > MAX_LENGTH) return []
  const bestMatches: Array<{ candidate: string; rank: number }> = []
  const budget = { cells: MAX_CELLS }
  for (const candidate of new Set(candidates)) {
    const worstRank = bestMatches.length < max ? Number.POSITIVE_INFINITY : (bestMatches.at(-1)?.rank ?? 0)
    const rank = rankCandidate(lowerCaseWord, candidate.toLowerCase(), { worstRank, budget })
    if (rank === undefined || rank >= worstRank) continue
    bestMatches.push({ candidate, rank })
    bestMatches.sort((a, b) => a.rank - b.rank)
    if (bestMatches.length > max) bestMatches.pop()
  }
  return bestMatches.map(({ candidate }) => candidate)
}

const MAX_LENGTH = 200
const LAST_PART_RANK = 0.25
const CONTAINED_RANK = 1.5
const MAX_EDITS = 3

/** The budget for comparing letter by letter. Each pair of letters is a cell; 300,000 cells take a millisecond. */
interface ComparisonBudget {
  cells: number
}

const MAX_CELLS = 900_000

interface RankOptions {
  worstRank: number
  budget: ComparisonBudget
}

/** Returns the distance, or `undefined` if it is too large, or not below `worstRank`. */
function rankCandidate(word: string, candidate: string, { worstRank, budget }: RankOptions): number | undefined {
  const lastPart = candidate.slice(candidate.lastIndexOf('/') + 1)
  if (word === candidate) return 0
  if (word === lastPart) return LAST_PART_RANK
  const maxEdits = Math.min(MAX_EDITS, Math.max(1, Math.floor(word.length / 3)), worstRank)
  const ranks = [
    countEdits(word, candidate, { maxEdits, budget }),
    lastPart === candidate
      ? Number.POSITIVE_INFINITY
      : countEdits(word, lastPart, { maxEdits, budget }) + LAST_PART_RANK,
    contains(candidate, word) || contains(word, candidate) ? CONTAINED_RANK : Number.POSITIVE_INFINITY,
  ]
  const rank = Math.min(...ranks)
  return Number.isFinite(rank) ? rank : undefined
}

const contains = (text: string, substring: string) => substring.length >= 3 && text.includes(substring)

interface EditOptions {
  maxEdits: number
  budget: ComparisonBudget
}

/** Returns the Levenshtein distance, where swapping two neighbors is one edit; infinite if it exceeds `maxEdits`, or if the budget is used up. */
function countEdits(word: string, other: string, { maxEdits, budget }: EditOptions): number {
  const maxWholeEdits = Math.floor(maxEdits)
  if (Math.abs(word.length - other.length) > maxWholeEdits) return Number.POSITIVE_INFINITY
  const [left, right] = trimCommonEnds(word, other)
  if (left.length === 2 && left[0] === right[1] && left[1] === right[0]) return 1
  if (!sharesSegment(left, right, maxWholeEdits + 1)) return Number.POSITIVE_INFINITY
  budget.cells -= left.length * right.length
  if (budget.cells < 0) return Number.POSITIVE_INFINITY
  const distance = leven(left, right, { maxDistance: maxWholeEdits + 1 }) // `leven` never returns more than this
  return distance > maxWholeEdits ? Number.POSITIVE_INFINITY : distance
}

/** Removes common prefixes and suffixes, which don't change the distance. */
function trimCommonEnds(word: string, other: string): [string, string] {
  const shorterLength = Math.min(word.length, other.length)
  let prefixLength = 0
  while (prefixLength < shorterLength && word[prefixLength] === other[prefixLength]) prefixLength++
  let suffixLength = 0
  while (
    suffixLength < shorterLength - prefixLength &&
    word[word.length - 1 - suffixLength] === other[other.length - 1 - suffixLength]
  )
    suffixLength++
  return [word.slice(prefixLength, word.length - suffixLength), other.slice(prefixLength, other.length - suffixLength)]
}

/**
 * Splits the word into `segmentCount` equal segments, and returns whether `other` contains any of them. Each edit changes one segment, so with fewer
 * edits than segments, at least one segment is unchanged.
 */
function sharesSegment(word: string, other: string, segmentCount: number): boolean {
  const size = Math.floor(word.length / segmentCount)
  if (size === 0) return true
  for (let index = 0; index < segmentCount; index++)
    if (other.includes(word.slice(index * size, (index + 1) * size))) return true
  return false
}

/** Returns `Did you mean "a" or "b"?`, or `undefined` if there are no names. */
export function didYouMean(names: readonly string[]): string | undefined {
  return names.length > 0 ? `Did you mean ${names.map((name) => `"${name}"`).join(' or ')}?` : undefined
}
