import { gatewayError } from '../errors.ts'

/** Is the text the origin of a page as browsers send it: scheme, host and, unless it is the default one, port? */
export function isOrigin(text: unknown): text is string {
  if (typeof text !== 'string' || !/^[a-z][a-z\d+.-]*:\/\/[^\s/?#@*]+$/.test(text)) return false
  if (!/^https?:/.test(text)) return true // the origin of a browser extension, for which `URL` gives no origin
  return URL.canParse(text) && new URL(text).origin === text
}

/**
 * The name of a model as one segment of a path. Throws `INVALID_REQUEST` on a name that is no segment: an empty one, half of a surrogate
 * pair, and one with `.` or `..` between its slashes or backslashes, also when these are encoded, however often, since some servers decode
 * a path twice.
 */
export function pathSegment(name: string): string {
  if (name === '' || /\p{Cs}/u.test(name) || DOT_SEGMENT.test(decoded(name))) {
    throw gatewayError('INVALID_REQUEST', {
      message: `The model name ${JSON.stringify(name)} cannot stand in the path of an address.`,
      data: { param: 'model' },
    })
  }
  return encodeURIComponent(name)
}

const DOT_SEGMENT = /(?:^|[/\\])\.{1,2}(?:[/\\]|$)/

/** The text with its encoded dots, slashes and backslashes decoded. */
const decoded = (text: string): string =>
  text.replace(/%(?:25)*(?:2e|(2f|5c))/gi, (_, slash: unknown) => (slash ? '/' : '.'))

/** The text without the character at its end, however often it is repeated there. Takes linear time, unlike a search for `/x+$/`. */
export function withoutTrailing(text: string, character: string): string {
  let end = text.length
  while (end > 0 && text[end - 1] === character) end--
  return text.slice(0, end)
}

/** Is it the host of an address, as `URL` spells it, that is this machine? */
export const isLoopbackHost = (host: string): boolean =>
  /^(?:localhost|.+\.localhost|127(?:\.\d+){3}|\[::1\])$/.test(host)

/** Is it the host of an address, as `URL` spells it, that is of one network or machine alone? */
export function isPrivateHost(host: string): boolean {
  if (host.startsWith('[')) return PRIVATE_V6.test(host) || isPrivateHost(mappedV4(host))
  if (/^[\d.]+$/.test(host)) return PRIVATE_V4.test(host)
  const name = withoutTrailing(host, '.')
  return name !== '' && (!name.includes('.') || PRIVATE_NAME.test(name))
}

const PRIVATE_V4 = /^(?:0|10|127|169\.254|192\.168|172\.(?:1[6-9]|2\d|3[01])|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\./
const PRIVATE_V6 = /^\[(?:::1?\]|f[cd]|fe[89a-f])/
const PRIVATE_NAME = /\.(?:localhost|local|localdomain|internal|intranet|private|lan|home|corp|home\.arpa)$/

/** The IPv4 address that one of IPv6 maps, which `URL` spells as two hexadecimal numbers. */
function mappedV4(host: string): string {
  const [, high, low] = /^\[::ffff:([\da-f]{1,4}):([\da-f]{1,4})\]$/.exec(host) ?? []
  if (high === undefined || low === undefined) return ''
  const numbers = [high, low].map((part) => Number.parseInt(part, 16))
  return numbers.flatMap((number) => [number >> 8, number & 255]).join('.')
}
