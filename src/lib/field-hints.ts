import { toCurrentName } from './renamed-options.ts'

/** Returns a sentence about an unknown field: its current name, the field that was probably meant, or a list of the known fields. */
export function suggestFields(field: string, names: readonly string[]): string {
  if (names.length === 0) return 'Remove it.'
  const current = toCurrentName(field, names)
  if (current !== undefined) return `It was renamed. Use "${current}".`
  const suggestion = findNearestName(field, names)
  return suggestion === undefined
    ? `Known: ${names.map((name) => `"${name}"`).join(', ')}.`
    : `Did you mean "${suggestion}"?`
}

/** Suggests where a misplaced field belongs, unless it looks like a typo of a known field. `inner` lists the fields within each field. */
export function suggestInnerField(
  field: string,
  knownNames: readonly string[],
  inner: Readonly<Record<string, readonly string[]>>,
): string | undefined {
  for (const [outer, names] of Object.entries(inner)) {
    const belongs = `It belongs in "${outer}".`
    if (names.includes(field)) return belongs
    const suggestion = findNearestName(field, knownNames) === undefined ? findNearestName(field, names) : undefined
    if (suggestion !== undefined) return `Did you mean "${suggestion}"? ${belongs}`
  }
  return undefined
}

/**
 * Finds the name that differs by the fewest letters, up to a third of them, or else a name that contains the word or is part of it. Like
 * `findNearest` (lib/spelling.ts), but with less code, for a few short names.
 */
export function findNearestName(word: string, names: readonly string[]): string | undefined {
  const requested = word.toLowerCase()
  if (requested === '' || requested.length > MAX_LENGTH) return undefined
  const maxEdits = Math.min(3, Math.max(1, Math.floor(requested.length / 3)))
  const ranks = names.map((name) => {
    const lowerCaseName = name.toLowerCase()
    const edits =
      Math.abs(lowerCaseName.length - requested.length) > maxEdits ? maxEdits + 1 : countEdits(requested, lowerCaseName)
    const isPart =
      Math.min(lowerCaseName.length, requested.length) >= 3 &&
      (lowerCaseName.includes(requested) || requested.includes(lowerCaseName))
    return Math.min(edits > maxEdits ? Number.POSITIVE_INFINITY : edits, isPart ? 1.5 : Number.POSITIVE_INFINITY)
  })
  const best = Math.min(...ranks)
  return Number.isFinite(best) ? names[ranks.indexOf(best)] : undefined
}

const MAX_LENGTH = 200

/** Returns the Levenshtein distance, where swapping two neighbors is one edit. */
function countEdits(word: string, other: string): number {
  const rows = [Array.from({ length: other.length + 1 }, (_, index) => index)]
  const read = (i: number, j: number) => rows[i]?.[j] ?? Number.POSITIVE_INFINITY
  for (let i = 1; i <= word.length; i++) {
    rows.push([i])
    for (let j = 1; j <= other.length; j++) {
      const isSwapped = word[i - 1] === other[j - 2] && word[i - 2] === other[j - 1]
      rows[i]?.push(
        Math.min(
          read(i - 1, j) + 1,
          read(i, j - 1) + 1,
          read(i - 1, j - 1) + (word[i - 1] === other[j - 1] ? 0 : 1),
          isSwapped ? read(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      )
    }
  }
  return read(word.length, other.length)
}
