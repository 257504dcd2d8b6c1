import { countTrailing } from './count-at-end.ts'
import type { Match } from './word-finder.ts'

/**
 * Finds characters that hide text from readers: tags, bidirectional overrides, and zero-width characters between Latin letters. Skips joiners in
 * emoji and other scripts, and the tags of the three flags that use them.
 */
export function findInvisible(text: string): Match[] {
  const matches: Match[] = []
  for (const { 0: matchedText, 1: flag = '', index } of text.matchAll(TAGS_PATTERN))
    if (flag === '' || !SUBDIVISION_FLAGS.has(decodeTags(matchedText.slice(flag.length))))
      matches.push({ start: index + flag.length, end: index + matchedText.length, type: 'INVISIBLE' })
  for (const { 0: matchedText, index } of text.matchAll(CONTROLS_PATTERN))
    matches.push({ start: index, end: index + matchedText.length, type: 'INVISIBLE' })
  return matches
}

const TAGS_PATTERN = /(\u{1f3f4})?[\u{e0000}-\u{e007f}]+/gu
const CONTROLS_PATTERN =
  /[\u202a-\u202e\u2066-\u2069]+|(?<=[A-Za-z\d])[\u200b-\u200d\u2060\ufeff\u00ad]+(?=[A-Za-z\d])/g

/** The flags of England, Scotland, and Wales. */
const SUBDIVISION_FLAGS = new Set(['gbeng', 'gbsct', 'gbwls'])

const decodeTags = (tags: string): string =>
  Array.from(tags, (tag) => String.fromCodePoint((tag.codePointAt(0) ?? 0) - 0xe_0000))
    .join('')
    .replace('\u007f', '')

/** Counts tags that may belong to a flag, and zero-width characters that may precede a letter. */
export const measurePartialInvisible = (text: string): number =>
  countTrailing(text, (unit) => HIDDEN_PATTERN.test(unit))

/** Matches zero-width characters, the black flag, and the surrogates of tags. */
const HIDDEN_PATTERN = /[\u200b-\u200d\u2060\ufeff\u00ad\udc00-\udfff\ud83c\udb40]/
