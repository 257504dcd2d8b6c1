import { toCurrentName } from './renamed-options.ts'

/** Returns a sentence about an unknown field: its current name, the field that was probably meant, or a list of the known fields. */
export function suggestField(field: string, names: readonly string[]): string {
  if (names.length === 0) return 'Remove it.'
  const currentName = toCurrentName(field, names)
  if (currentName !== undefined) return `It was renamed. Use "${currentName}".`
  const suggestion = findNearestName(field, names)
  return suggestion === undefined
    ? `Known: ${names.map((name) => `"${name}"`).join(', ')}.`
    : `Did you mean "${suggestion}"?`
}

/** Suggests where a misplaced field belongs, unless it looks like a typo of a known field. `nestedFields` lists each field's nested fields. */
export function suggestInnerField(
  field: string,
  knownNames: readonly string[],
  nestedFields: Readonly<Record<string, readonly string[]>>,
): string | undefined {
  for (const [outer, names] of Object.entries(nestedFields)) {
    const advice = `It belongs in "${outer}".`
    if (names.includes(field)) return advice
    const suggestion = findNearestName(field, knownNames) === undefined ? findNearestName(field, names) : undefined
    if (suggestion !== undefined) return `Did you mean "${suggestion}"? ${advice}`
  }
  return undefined
}

/**
 * Finds the name that differs by the fewest letters, up to a third of them, or else a name that contains the word or is part of it. Like
 * `findNearest` (lib/spelling.ts), but with less code, for a few short names.
 */
export function findNearestName(word: string, names: readonly string[]): string | undefined {
  const lowerCaseWord = word.toLowerCase()
  if (lowerCaseWord === '' || lowerCaseWord.length > MAX_LENGTH) return undefined
  const maxEdits = Math.min(3, Math.max(1, Math.floor(lowerCaseWord.length / 3)))
  const ranks = names.map((name) => {
    const lowerCaseName = name.toLowerCase()
    const edits =
      Math.abs(lowerCaseName.length - lowerCaseWord.length) > maxEdits
        ? maxEdits + 1
        : countEdits(lowerCaseWord, lowerCaseName)
    const isSubstring =
      Math.min(lowerCaseName.length, lowerCaseWord.length) >= 3 &&
      (lowerCaseName.includes(lowerCaseWord) || lowerCaseWord.includes(lowerCaseName))
    return Math.min(edits > maxEdits ? Number.POSITIVE_INFINITY : edits, isSubstring ? 1.5 : Number.POSITIVE_INFINITY)
  })
  const bestRank = Math.min(...ranks)
  return Number.isFinite(bestRank) ? names[ranks.indexOf(bestRank)] : undefined
}

const MAX_LENGTH = 200

/** Returns the Levenshtein distance, where swapping two neighbors is one edit. */
function countEdits(word: string, other: string): number {
  const distances = [Array.from({ length: other.length + 1 }, (_, index) => index)]
  const getDistance = (i: number, j: number) => distances[i]?.[j] ?? Number.POSITIVE_INFINITY
  for (let i = 1; i <= word.length; i++) {
    distances.push([i])
    for (let j = 1; j <= other.length; j++) {
      const isSwapped = word[i - 1] === other[j - 2] && word[i - 2] === other[j - 1]
      distances[i]?.push(
        Math.min(
          getDistance(i - 1, j) + 1,
          getDistance(i, j - 1) + 1,
          getDistance(i - 1, j - 1) + (word[i - 1] === other[j - 1] ? 0 : 1),
          isSwapped ? getDistance(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      )
    }
  }
  return getDistance(word.length, other.length)
}
