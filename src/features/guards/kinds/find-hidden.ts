import { decodeMarkup } from './decode-markup.ts'
import { foldText } from './fold-text.ts'
import type { Match } from './word-finder.ts'

/**
 * Finds matches in a string as it is, and as it reads without invisible characters, accents, look-alike and styled characters, markup, and escapes.
 * Matches may overlap.
 */
export function findHidden(text: string, find: (text: string) => Match[]): Match[] {
  const matches = find(text)
  for (const rewrite of [foldText, decodeMarkup]) {
    const view = rewrite(text)
    if (!view || view.text === text) continue
    for (const { start, end, type } of find(view.text))
      matches.push({ start: view.toOriginal(start), end: view.toOriginal(end - 1, true), type })
  }
  return matches
}
