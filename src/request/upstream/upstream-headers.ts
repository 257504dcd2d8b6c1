import type { Exchange, UpstreamResponse } from '../../lib/exchange.ts'

/** The client headers that are forwarded to a provider with the same format. No other headers are forwarded, least of all credentials. */
const SAME_FORMAT_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'anthropic-beta',
  'anthropic-version',
  'http-referer',
  'idempotency-key',
  'openai-beta',
  'user-agent',
  'x-title',
])

/** Copies the client's headers for a provider with the same format, over `defaultHeaders`. */
export function copyRequestHeaders(
  exchange: Pick<Exchange, 'header' | 'copyHeaders'>,
  defaultHeaders: Readonly<Record<string, string>>,
): Record<string, string> {
  const headers: Record<string, string> = Object.assign({ 'content-type': 'application/json' }, defaultHeaders)
  const hopByHopNames = parseConnectionHeader(exchange.header('connection'))
  const names = hopByHopNames
    ? new Set([...SAME_FORMAT_HEADERS].filter((name) => !hopByHopNames.includes(name)))
    : SAME_FORMAT_HEADERS
  exchange.copyHeaders(names, headers)
  return headers
}

/** The client headers that mean the same to every provider. */
const NEUTRAL_HEADERS: ReadonlySet<string> = new Set(['http-referer', 'idempotency-key', 'user-agent', 'x-title'])

/** Copies the client's headers for a provider with another format, over `defaultHeaders`. */
export function copyNeutralHeaders(
  exchange: Pick<Exchange, 'copyHeaders'>,
  defaultHeaders: Readonly<Record<string, string>>,
): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': 'application/json', ...defaultHeaders }
  exchange.copyHeaders(NEUTRAL_HEADERS, headers)
  return headers
}

/** Parses the names of hop-by-hop headers in a `Connection` header. Returns `undefined` for the usual values, which contain none. */
const parseConnectionHeader = (connection: string | undefined) =>
  connection === undefined || connection === 'keep-alive' || connection === 'close'
    ? undefined
    : connection
        .toLowerCase()
        .split(',')
        .map((name) => name.trim())

/**
 * The provider's headers that aren't forwarded: hop-by-hop headers, headers about how the body was transferred, headers that clients would mistake
 * for the gateway's, and account names.
 */
const WITHHELD_HEADERS = new Set([
  'alt-svc',
  'anthropic-organization-id',
  'clear-site-data',
  'connection',
  'content-disposition',
  'content-encoding',
  'content-length',
  'content-security-policy',
  'date',
  'keep-alive',
  'location',
  'nel',
  'openai-organization',
  'openai-project',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'refresh',
  'report-to',
  'server',
  'set-cookie',
  'strict-transport-security',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'via',
  'www-authenticate',
])

const WITHHELD_PREFIX = /^(?:access-control|x-signalbox)-/

/** Header values that are valid for every server and for `Response`. */
const FIELD_VALUE_PATTERN = /^[\t\x20-\x7e\x80-\xff]*$/

/** Returns the content type to send. Only text types get a charset, because JSON is always UTF-8. */
export const toContentType = (mediaType: string): string =>
  mediaType.startsWith('text/') && !mediaType.includes(';') ? `${mediaType}; charset=utf-8` : mediaType

/**
 * Returns the provider's headers for the client, with names in lowercase. Sets `content-type` to the body's type. Drops headers whose value
 * `isSecret`.
 */
export function createReplyHeaders(
  response: UpstreamResponse,
  mediaType: string,
  isSecret: (value: string) => boolean = isNeverSecret,
): Record<string, string> {
  const hopByHopNames = parseConnectionHeader(response.header('connection'))
  const headers: Record<string, string> = {}
  for (const [name, value] of response.headers()) {
    if (
      WITHHELD_HEADERS.has(name) ||
      WITHHELD_PREFIX.test(name) ||
      hopByHopNames?.includes(name) ||
      !FIELD_VALUE_PATTERN.test(value)
    )
      continue
    if (isSecret(value)) continue
    const existingValue = headers[name]
    headers[name] = existingValue === undefined ? value : `${existingValue}, ${value}`
  }
  if (!hasMediaType(headers['content-type'], mediaType)) headers['content-type'] = toContentType(mediaType)
  return headers
}

const isNeverSecret = () => false

/** Accepts parameters such as a charset, and `text/json`. */
function hasMediaType(contentType: string | undefined, mediaType: string): boolean {
  if (contentType === undefined) return false
  return (
    contentType.startsWith(mediaType) || contentType.toLowerCase().includes(mediaType.slice(mediaType.indexOf('/') + 1))
  )
}

/** Finds the provider's request ID. `requestIdHeader` is its header name in the client's format, which is tried first. */
export const findRequestId = (
  response: Pick<UpstreamResponse, 'headers'>,
  requestIdHeader: string,
): string | undefined => pickRequestId(Object.fromEntries(response.headers()), requestIdHeader)

/** Finds the provider's request ID in headers that have already been read, which is cheaper. */
export function pickRequestId(headers: Readonly<Record<string, string>>, requestIdHeader: string): string | undefined {
  let id = headers[requestIdHeader]
  for (const name of REQUEST_ID_HEADERS) id ??= headers[name]
  return id !== undefined && PRINTABLE_PATTERN.test(id) ? id : undefined
}

/** The header names that OpenAI and most others, Anthropic, AWS, Azure, and Google use. */
const REQUEST_ID_HEADERS = ['x-request-id', 'request-id', 'x-amzn-requestid', 'apim-request-id', 'x-goog-request-id']

const PRINTABLE_PATTERN = /^[\x21-\x7e]{1,300}$/
