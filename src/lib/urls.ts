import { gatewayError } from '../errors.ts'

/** Is it the origin of a page as browsers send it: scheme, host and, unless it is the scheme's own, port? */
export function isOrigin(text: unknown): text is string {
  if (typeof text !== 'string' || !/^[a-z][a-z\d+.-]*:\/\/[^\s/?#@*]+$/.test(text)) return false
  if (!/^https?:/.test(text)) return true // an extension's, which URL knows no origin of
  return URL.canParse(text) && new URL(text).origin === text
}

/**
 * The name of a model as one segment of a path. Throws `INVALID_REQUEST` on a name that is no segment: an empty one, half of a surrogate
 * pair, and `.` or `..`, also when their dots are encoded, however often, since some servers decode a path twice.
 */
export function pathSegment(name: string): string {
  if (name === '' || /\p{Cs}/u.test(name) || DOTS.test(name)) {
    throw gatewayError('INVALID_REQUEST', {
      message: `The model name ${JSON.stringify(name)} cannot stand in the path of an address.`,
      data: { param: 'model' },
    })
  }
  return encodeURIComponent(name)
}

const DOTS = /^(?:\.|%(?:25)*2e){1,2}$/i

/** The text without this character at its end, however often it is there. Takes linear time, unlike a search for `/x+$/`. */
export function withoutTrailing(text: string, character: string): string {
  let end = text.length
  while (end > 0 && text[end - 1] === character) end--
  return text.slice(0, end)
}
