import type { Exchange, UpstreamAnswer } from '../lib/exchange.ts'

/** What a client may say to a provider besides the body. Everything else, credentials above all, stays here. */
const towardsUpstream = [
  'accept',
  'anthropic-beta',
  'anthropic-version',
  'http-referer',
  'idempotency-key',
  'openai-beta',
  'traceparent',
  'tracestate',
  'user-agent',
  'x-title',
]

/** The client's headers that go on, over `defaults`. */
export function requestHeaders(
  exchange: Pick<Exchange, 'header'>,
  defaults: Readonly<Record<string, string>>,
): Record<string, string> {
  const headers: Record<string, string> = Object.assign({ 'content-type': 'application/json' }, defaults)
  const listed = namesIn(exchange.header('connection'))
  for (const name of towardsUpstream) {
    const value = exchange.header(name)
    if (value !== undefined && !listed?.includes(name)) headers[name] = value
  }
  return headers
}

/** What has the same meaning to every provider. */
const towardsAny = ['http-referer', 'idempotency-key', 'traceparent', 'tracestate', 'user-agent', 'x-title']

/** The same for a request in another format than the client's. */
export function translatedHeaders(
  exchange: Pick<Exchange, 'header'>,
  defaults: Readonly<Record<string, string>>,
): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': 'application/json', ...defaults }
  for (const name of towardsAny) {
    const value = exchange.header(name)
    if (value !== undefined) headers[name] = value
  }
  return headers
}

/** The headers that a `Connection` header declares to be of one hop. */
const namesIn = (connection: string | undefined) =>
  connection
    ?.toLowerCase()
    .split(',')
    .map((name) => name.trim())

/** Hop-by-hop headers, those that describe the bytes of another hop, those that would speak for the gateway, and whose account it is. */
const withheld = new Set([
  'alt-svc',
  'anthropic-organization-id',
  'clear-site-data',
  'connection',
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

/** What every server and every `Response` can send. */
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

type MediaType = 'application/json' | 'text/event-stream'

/** How the gateway itself calls what it sends: JSON is in UTF-8 always, and takes no word for it. */
export const contentType = (mediaType: MediaType): string =>
  mediaType === 'application/json' ? mediaType : `${mediaType}; charset=utf-8`

/** The provider's headers that the client may see, names in lower case, over the type that the body turned out to have. */
export function replyHeaders(answer: UpstreamAnswer, mediaType: MediaType): Record<string, string> {
  const listed = namesIn(answer.header('connection'))
  const headers: Record<string, string> = {}
  for (const [name, value] of answer.headers()) {
    if (withheld.has(name) || WITHHELD_PREFIX.test(name) || listed?.includes(name) || !FIELD_VALUE.test(value)) continue
    const other = headers[name]
    headers[name] = other === undefined ? value : `${other}, ${value}`
  }
  if (!isOfType(headers['content-type'], mediaType)) headers['content-type'] = contentType(mediaType)
  return headers
}

/** Also `text/json`, or with a charset. */
function isOfType(said: string | undefined, mediaType: string): boolean {
  if (said === undefined) return false
  return said.startsWith(mediaType) || said.toLowerCase().includes(mediaType.replace(/.*\//, ''))
}
