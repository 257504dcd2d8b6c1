/**
 * JSON with the line separators of Unicode as escapes: it means the same, but many readers of event streams, those of Python's httpx among
 * them, end a line at them and lose the rest of the event.
 */
export const withoutLineSeparators = (json: string): string =>
  SEPARATORS.test(json) ? json.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029') : json

const SEPARATORS = /[\u2028\u2029]/
