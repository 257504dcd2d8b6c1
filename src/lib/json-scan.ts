import { BACKSLASH, CLOSE_BRACE, CLOSE_BRACKET, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE } from './json-codes.ts'

/** The place of one value in a JSON text: `text.slice(start, end)`. */
export interface Span {
  start: number
  end: number
}

/**
 * Finds the values of the named members of the outermost object without parsing it, so that one can be replaced and every other character
 * stays. Also returns how deep the text nests. The text must be valid JSON.
 */
export function scanTopLevel(text: string, names: readonly string[]): { spans: Span[]; depth: number } {
  const spans: Span[] = []
  let depth = 0
  let deepest = 0
  let isWanted = false // the value that is being passed
  let valueStart = -1
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE: {
        const end = endOfString(text, at)
        if (depth === 1 && !isWanted) {
          const colon = skipSpace(text, end)
          if (text[colon] === ':') {
            if (isKeyAmong(names, text, at, end)) {
              isWanted = true
              valueStart = skipSpace(text, colon + 1)
              at = valueStart - 1
              break
            }
          }
        }
        at = end - 1
        break
      }
      case OPEN_BRACE:
      case OPEN_BRACKET:
        if (++depth > deepest) deepest = depth
        break
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        if (--depth > 0 || !isWanted) break
        spans.push(spanOf(text, valueStart, at))
        isWanted = false
        break
      case COMMA:
        if (depth !== 1 || !isWanted) break
        spans.push(spanOf(text, valueStart, at))
        isWanted = false
    }
  }
  return { spans, depth: deepest }
}

const spanOf = (text: string, start: number, end: number): Span => ({
  start,
  end: start + text.slice(start, end).trimEnd().length,
})

/** The text with `value` in place of each span. */
export function replaceSpans(text: string, spans: readonly Span[], value: string): string {
  let out = ''
  let at = 0
  for (const span of spans) {
    out += text.slice(at, span.start) + value
    at = span.end
  }
  return out + text.slice(at)
}

/** Index just behind the closing quote of the string that opens at `open`. */
function endOfString(text: string, open: number): number {
  for (let at = text.indexOf('"', open + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let backslashes = 0
    while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes++
    if (backslashes % 2 === 0) return at + 1
  }
  return text.length
}

/** Is the string between these places, in its quotes, one of the names? Most are none, which is seen without making a string of them. */
function isKeyAmong(names: readonly string[], text: string, start: number, end: number): boolean {
  const length = end - start - 2
  for (const name of names) {
    if (length === name.length && text.startsWith(name, start + 1)) return true
    const mayBeEscaped = length > name.length && length <= name.length * LONGEST_ESCAPE
    if (mayBeEscaped && hasEscape(text, start, end) && unescaped(text.slice(start, end)) === name) return true
  }
  return false
}

/** In characters, of one: `\\u0065`. */
const LONGEST_ESCAPE = 6

function hasEscape(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (text.charCodeAt(at) === BACKSLASH) return true
  return false
}

function unescaped(quoted: string): string {
  try {
    return String(JSON.parse(quoted))
  } catch {
    return quoted.slice(1, -1)
  }
}

function skipSpace(text: string, from: number): number {
  let at = from
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at++
  return at
}
