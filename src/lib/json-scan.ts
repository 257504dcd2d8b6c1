import { charCodeAt } from './char-code-at.ts'
/** The character codes in JSON's grammar. */
export const QUOTE = 0x22
export const COMMA = 0x2c
export const OPEN_BRACKET = 0x5b
export const BACKSLASH = 0x5c
export const CLOSE_BRACKET = 0x5d
export const OPEN_BRACE = 0x7b
export const CLOSE_BRACE = 0x7d

/** The position of a value in JSON: `text.slice(start, end)`. */
export interface Span {
  start: number
  end: number
}

/**
 * Finds the values of the outermost object's named fields without parsing it, so they can be replaced without changing any other character. Also
 * returns the nesting depth. The text must be valid JSON.
 */
export function scanTopLevel(text: string, names: readonly string[]): { spans: Span[]; depth: number } {
  const spans: Span[] = []
  let depth = 0
  let maxDepth = 0
  let isNamedField = false // whether the current value belongs to a named field
  let valueStart = -1
  const { length } = text
  for (let index = 0; index < length; index++) {
    switch (charCodeAt(text, index)) {
      case QUOTE: {
        const end = findStringEnd(text, index)
        if (depth === 1 && !isNamedField) {
          const colon = skipSpace(text, end)
          if (text[colon] === ':') {
            if (isKeyAmong(names, text, index, end)) {
              isNamedField = true
              valueStart = skipSpace(text, colon + 1)
              index = valueStart - 1
              break
            }
          }
        }
        index = end - 1
        break
      }
      case OPEN_BRACE:
      case OPEN_BRACKET:
        if (++depth > maxDepth) maxDepth = depth
        break
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        if (--depth > 0 || !isNamedField) break
        spans.push(createSpan(text, valueStart, index))
        isNamedField = false
        break
      case COMMA:
        if (depth !== 1 || !isNamedField) break
        spans.push(createSpan(text, valueStart, index))
        isNamedField = false
    }
  }
  return { spans, depth: maxDepth }
}

/** Returns whether the text nests deeper than this many levels. It may be invalid JSON. Each level takes two characters. */
export function exceedsDepth(text: string, levels: number): boolean {
  const { length } = text
  if (length <= 2 * levels || !hasMoreOpenings(text, levels)) return false
  let depth = 0
  for (let index = 0; index < length; index++) {
    switch (charCodeAt(text, index)) {
      case QUOTE:
        index = findStringEnd(text, index) - 1
        break
      case OPEN_BRACE:
      case OPEN_BRACKET:
        if (++depth > levels) return true
        break
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        depth--
    }
  }
  return false
}

/** Returns whether there are more opening braces and brackets than `count`, including those inside strings. This fast check rules out most inputs. */
function hasMoreOpenings(text: string, count: number): boolean {
  let openingCount = 0
  for (const opening of '{[')
    for (let index = text.indexOf(opening); index !== -1; index = text.indexOf(opening, index + 1))
      if (++openingCount > count) return true
  return false
}

const createSpan = (text: string, start: number, end: number): Span => ({
  start,
  end: start + text.slice(start, end).trimEnd().length,
})

/** Replaces each span with `value`. */
export function replaceSpans(text: string, spans: readonly Span[], value: string): string {
  let result = ''
  let position = 0
  for (const span of spans) {
    result += text.slice(position, span.start) + value
    position = span.end
  }
  return result + text.slice(position)
}

/** Returns the index after the closing quote of the string that opens at `start`. */
export function findStringEnd(text: string, start: number): number {
  for (let index = text.indexOf('"', start + 1); index !== -1; index = text.indexOf('"', index + 1)) {
    let backslashes = 0
    while (text.charCodeAt(index - 1 - backslashes) === BACKSLASH) backslashes++
    if (backslashes % 2 === 0) return index + 1
  }
  return text.length
}

/** Returns whether the quoted string is one of the names. Rules out most keys without creating a string. */
function isKeyAmong(names: readonly string[], text: string, start: number, end: number): boolean {
  const length = end - start - 2
  for (const name of names) {
    if (length === name.length && text.startsWith(name, start + 1)) return true
    const canBeEscaped = length > name.length && length <= name.length * MAX_ESCAPE_LENGTH
    if (canBeEscaped && hasEscape(text, start, end) && unescapeKey(text.slice(start, end)) === name) return true
  }
  return false
}

/** The length of the longest escape, `\\u0065`. */
const MAX_ESCAPE_LENGTH = 6

function hasEscape(text: string, start: number, end: number): boolean {
  for (let index = start; index < end; index++) if (text.charCodeAt(index) === BACKSLASH) return true
  return false
}

function unescapeKey(quoted: string): string {
  try {
    return String(JSON.parse(quoted))
  } catch {
    return quoted.slice(1, -1)
  }
}

function skipSpace(text: string, from: number): number {
  let position = from
  while (text[position] === ' ' || text[position] === '\n' || text[position] === '\r' || text[position] === '\t')
    position++
  return position
}
