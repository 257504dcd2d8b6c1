import type { Exchange, UpstreamAnswer } from '../lib/exchange.ts'

/** The client's headers that are passed on to a provider of the same format. All others, above all credentials, are not passed on. */
const towardsUpstream: ReadonlySet<string> = new Set([
  'accept',
  'anthropic-beta',
  'anthropic-version',
  'http-referer',
  'idempotency-key',
  'openai-beta',
  'user-agent',
  'x-title',
])

/** The client's headers for a provider of the same format, over `defaults`. */
export function requestHeaders(
  exchange: Pick<Exchange, 'header' | 'copyHeaders'>,
  defaults: Readonly<Record<string, string>>,
): Record<string, string> {
  const headers: Record<string, string> = Object.assign({ 'content-type': 'application/json' }, defaults)
  const listed = namesIn(exchange.header('connection'))
  const names = listed ? new Set([...towardsUpstream].filter((name) => !listed.includes(name))) : towardsUpstream
  exchange.copyHeaders(names, headers)
  return headers
}

/** Headers with the same meaning for every provider. */
const towardsAny: ReadonlySet<string> = new Set(['http-referer', 'idempotency-key', 'user-agent', 'x-title'])

/** The client's headers for a provider of another format, over `defaults`. */
export function translatedHeaders(
  exchange: Pick<Exchange, 'copyHeaders'>,
  defaults: Readonly<Record<string, string>>,
): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': 'application/json', ...defaults }
  exchange.copyHeaders(towardsAny, headers)
  return headers
}

/** The hop-by-hop headers that a `Connection` header names; `undefined` for the usual ones, which name none. */
const namesIn = (connection: string | undefined) =>
  connection === undefined || connection === 'keep-alive' || connection === 'close'
    ? undefined
    : connection
        .toLowerCase()
        .split(',')
        .map((name) => name.trim())

/**
 * Headers of a provider that are not passed on: hop-by-hop headers, headers about the transfer of the body, headers that clients would mistake for
 * the gateway's, and names of accounts.
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

/** Valid field values for every server and `Response`. */
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

/** The content type that the gateway sends. Only texts have a charset: JSON is always UTF-8. */
export const contentType = (mediaType: string): string =>
  mediaType.startsWith('text/') && !mediaType.includes(';') ? `${mediaType}; charset=utf-8` : mediaType

/**
 * The provider's headers for the client, names in lower case; `content-type` is that of the body. A header is left out if `isSecret` returns
 * true for its value.
 */
export function replyHeaders(
  answer: UpstreamAnswer,
  mediaType: string,
  isSecret: (value: string) => boolean = noneIs,
): Record<string, string> {
  const listed = namesIn(answer.header('connection'))
  const headers: Record<string, string> = {}
  for (const [name, value] of answer.headers()) {
    if (withheld.has(name) || WITHHELD_PREFIX.test(name) || listed?.includes(name) || !FIELD_VALUE.test(value)) continue
    if (isSecret(value)) continue
    const other = headers[name]
    headers[name] = other === undefined ? value : `${other}, ${value}`
  }
  if (!isOfType(headers['content-type'], mediaType)) headers['content-type'] = contentType(mediaType)
  return headers
}

const noneIs = () => false

/** Accepts parameters such as a charset, and `text/json`. */
function isOfType(said: string | undefined, mediaType: string): boolean {
  if (said === undefined) return false
  return said.startsWith(mediaType) || said.toLowerCase().includes(mediaType.slice(mediaType.indexOf('/') + 1))
}

/** The provider's id of the request; `own`: the name of its header in the client's format, which is read first. */
export const requestIdIn = (answer: Pick<UpstreamAnswer, 'headers'>, own: string): string | undefined =>
  requestIdAmong(Object.fromEntries(answer.headers()), own)

/** The provider's id of the request among headers that were read already, which costs less. */
export function requestIdAmong(headers: Readonly<Record<string, string>>, own: string): string | undefined {
  let id = headers[own]
  for (const name of NAMES) id ??= headers[name]
  return id !== undefined && PRINTABLE.test(id) ? id : undefined
}

/** The header names of OpenAI and most others, Anthropic, AWS, Azure and Google. */
const NAMES = ['x-request-id', 'request-id', 'x-amzn-requestid', 'apim-request-id', 'x-goog-request-id']

const PRINTABLE = /^[\x21-\x7e]{1,300}$/
