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

/** Copies the client's headers for a provider with the same format, over `defaults`. */
export function copyRequestHeaders(
  exchange: Pick<Exchange, 'header' | 'copyHeaders'>,
  defaults: Readonly<Record<string, string>>,
): Record<string, string> {
  const headers: Record<string, string> = Object.assign({ 'content-type': 'application/json' }, defaults)
  const listed = parseConnectionHeader(exchange.header('connection'))
  const names = listed
    ? new Set([...SAME_FORMAT_HEADERS].filter((name) => !listed.includes(name)))
    : SAME_FORMAT_HEADERS
  exchange.copyHeaders(names, headers)
  return headers
}

/** The client headers that mean the same to every provider. */
const NEUTRAL_HEADERS: ReadonlySet<string> = new Set(['http-referer', 'idempotency-key', 'user-agent', 'x-title'])

/** Copies the client's headers for a provider with another format, over `defaults`. */
export function copyNeutralHeaders(
  exchange: Pick<Exchange, 'copyHeaders'>,
  defaults: Readonly<Record<string, string>>,
): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': 'application/json', ...defaults }
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
const withheld = new Set([
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
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

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
  const listed = parseConnectionHeader(response.header('connection'))
  const headers: Record<string, string> = {}
  for (const [name, value] of response.headers()) {
    if (withheld.has(name) || WITHHELD_PREFIX.test(name) || listed?.includes(name) || !FIELD_VALUE.test(value)) continue
    if (isSecret(value)) continue
    const other = headers[name]
    headers[name] = other === undefined ? value : `${other}, ${value}`
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

/** Finds the provider's request ID. `requestId` is its header name in the client's format, which is tried first. */
export const findRequestId = (response: Pick<UpstreamResponse, 'headers'>, requestId: string): string | undefined =>
  pickRequestId(Object.fromEntries(response.headers()), requestId)

/** Finds the provider's request ID in headers that have already been read, which is cheaper. */
export function pickRequestId(headers: Readonly<Record<string, string>>, requestId: string): string | undefined {
  let id = headers[requestId]
  for (const name of NAMES) id ??= headers[name]
  return id !== undefined && PRINTABLE_PATTERN.test(id) ? id : undefined
}

/** The header names that OpenAI and most others, Anthropic, AWS, Azure, and Google use. */
const NAMES = ['x-request-id', 'request-id', 'x-amzn-requestid', 'apim-request-id', 'x-goog-request-id']

const PRINTABLE_PATTERN = /^[\x21-\x7e]{1,300}$/
