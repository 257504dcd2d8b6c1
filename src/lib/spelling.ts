import leven from 'leven'

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

/** The distance between the two words; `undefined` when it is too large, or not below `worst`. */
function rankOf(word: string, candidate: string, worst: number): number | undefined {
  const part = candidate.slice(candidate.lastIndexOf('/') + 1)
  if (word === candidate) return 0
  if (word === part) return BEHIND_SLASH
  const allowed = Math.min(MAX_EDITS, Math.max(1, Math.floor(word.length / 3)), worst)
  const ranks = [
    edits(word, candidate, allowed),
    part === candidate ? Number.POSITIVE_INFINITY : edits(word, part, allowed) + BEHIND_SLASH,
    contains(candidate, word) || contains(word, candidate) ? CONTAINED : Number.POSITIVE_INFINITY,
  ]
  const rank = Math.min(...ranks)
  return Number.isFinite(rank) ? rank : undefined
}

const contains = (whole: string, part: string) => part.length >= 3 && whole.includes(part)

/** The Levenshtein distance, where two swapped neighbours count as one edit; infinite when it is more than `allowed`. */
function edits(word: string, other: string, allowed: number): number {
  const most = Math.floor(allowed)
  const distance = isSwapped(word, other) ? 1 : leven(word, other, { maxDistance: most + 1 }) // `leven` returns at most `maxDistance`
  return distance > most ? Number.POSITIVE_INFINITY : distance
}

/** Do the words differ only in two neighbouring letters that are swapped? */
function isSwapped(word: string, other: string): boolean {
  if (word.length !== other.length) return false
  let at = 0
  while (at < word.length && word[at] === other[at]) at++
  return at + 1 < word.length && other === word.slice(0, at) + word[at + 1] + word[at] + word.slice(at + 2)
}

/** `Did you mean "a" or "b"?`, or `undefined` without names. */
export function didYouMean(names: readonly string[]): string | undefined {
  return names.length > 0 ? `Did you mean ${names.map((name) => `"${name}"`).join(' or ')}?` : undefined
}

/** Throws a TypeError naming the first option that is not in `known`; `path` is put before its name, such as `limits.`. */
export function refuseUnknownOptions(options: object, known: readonly string[], path = ''): void {
  for (const name of Object.keys(options))
    if (!known.includes(name)) throw new TypeError(`${path}${name} is not an option. Known: ${known.join(', ')}.`)
}
