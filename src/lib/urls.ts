import { gatewayError } from '../errors.ts'

/** Returns whether the value is an origin as browsers send it: scheme, host, and a non-default port. */
export function isOrigin(text: unknown): text is string {
  if (typeof text !== 'string' || !/^[a-z][a-z\d+.-]*:\/\/[^\s/?#@*]+$/.test(text)) return false
  if (!/^https?:/.test(text)) return true // a browser extension's origin, which `URL` can't parse
  return URL.canParse(text) && new URL(text).origin === text
}

/**
 * Encodes a model name as a path segment. Throws `INVALID_REQUEST` if the name is empty, has a lone surrogate, or has a `.` or `..` between slashes
 * or backslashes. Also checks repeatedly encoded names, because some servers decode a path twice.
 */
export function encodePathSegment(name: string): string {
  if (name === '' || /\p{Cs}/u.test(name) || DOT_SEGMENT.test(decodeSegment(name))) {
    throw gatewayError('INVALID_REQUEST', {
      message: `The model name ${JSON.stringify(name)} cannot be used in a URL path.`,
      data: { param: 'model' },
    })
  }
  return encodeURIComponent(name)
}

const DOT_SEGMENT = /(?:^|[/\\])\.{1,2}(?:[/\\]|$)/

/** Decodes encoded dots, slashes, and backslashes. */
const decodeSegment = (text: string): string =>
  text.replace(/%(?:25)*(?:2e|(2f|5c))/gi, (_, slash: unknown) => (slash ? '/' : '.'))

/** Removes a repeated trailing character. Takes linear time, unlike `/x+$/`. */
export function trimTrailing(text: string, character: string): string {
  let end = text.length
  while (end > 0 && text[end - 1] === character) end--
  return text.slice(0, end)
}

/** Removes one trailing `/v1` or `/v1/` from a cloud proxy's URL, then all trailing slashes. */
export const trimCloudUrl = (url: string): string => trimTrailing(url.trim().replace(/\/v1\/?$/, ''), '/')

/**
 * Finds an endpoint path at the end of a base URL, such as `/chat/completions`, which the gateway appends itself. Returns `undefined` if there is
 * none. `/messages` is allowed (src/rules.md, Models of compatible providers).
 */
export const findEndpointPath = (baseUrl: string): string | undefined =>
  /\/(?:chat\/completions|completions|responses|embeddings)\/*$/i.exec(baseUrl)?.[0]

/** Returns whether a URL's host (`URL.hostname`) is this machine. */
export const isLoopbackHost = (host: string): boolean =>
  /^(?:localhost|.+\.localhost|127(?:\.\d+){3}|\[::1\])$/.test(host)

/** Returns whether a URL's host (`URL.hostname`) is private to a network or machine. */
export function isPrivateHost(host: string): boolean {
  if (host.startsWith('[')) return PRIVATE_V6_PATTERN.test(host) || isPrivateHost(toMappedV4(host))
  if (/^[\d.]+$/.test(host)) return PRIVATE_V4_PATTERN.test(host)
  const name = trimTrailing(host, '.')
  return name !== '' && (!name.includes('.') || PRIVATE_NAME_PATTERN.test(name))
}

const PRIVATE_V4_PATTERN =
  /^(?:0|10|127|169\.254|192\.168|172\.(?:1[6-9]|2\d|3[01])|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\./
const PRIVATE_V6_PATTERN = /^\[(?:::1?\]|f[cd]|fe[89a-f])/
const PRIVATE_NAME_PATTERN = /\.(?:localhost|local|localdomain|internal|intranet|private|lan|home|corp|home\.arpa)$/

/** Returns the IPv4 address in an IPv4-mapped IPv6 address, which `URL` writes as two hex numbers. */
function toMappedV4(host: string): string {
  const [, high, low] = /^\[::ffff:([\da-f]{1,4}):([\da-f]{1,4})\]$/.exec(host) ?? []
  if (high === undefined || low === undefined) return ''
  const groups = [high, low].map((part) => Number.parseInt(part, 16))
  return groups.flatMap((group) => [group >> 8, group & 255]).join('.')
}
