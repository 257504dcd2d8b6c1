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
export function requestHeaders(exchange: Exchange, defaults: Readonly<Record<string, string>>): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': 'application/json', ...defaults }
  for (const name of towardsUpstream) {
    const value = exchange.header(name)
    if (value !== undefined) headers[name] = value
  }
  return headers
}

/** Hop-by-hop headers, those that describe the bytes of another hop, and those that would speak for the gateway. */
const withheld = new Set([
  'alt-svc',
  'clear-site-data',
  'connection',
  'content-encoding',
  'content-length',
  'content-security-policy',
  'date',
  'keep-alive',
  'location',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
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

/** What every server and every `Response` can send. */
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

/** The provider's headers that the client may see, names in lower case, over the type that the body turned out to have. */
export function replyHeaders(
  answer: UpstreamAnswer,
  mediaType: 'application/json' | 'text/event-stream',
): Record<string, string> {
  const listed = answer
    .header('connection')
    ?.toLowerCase()
    .split(',')
    .map((name) => name.trim())
  const headers: Record<string, string> = {}
  for (const [name, value] of answer.headers()) {
    if (
      withheld.has(name) ||
      name.startsWith('access-control-') ||
      name.startsWith('x-signalbox-') ||
      listed?.includes(name) ||
      !FIELD_VALUE.test(value)
    )
      continue
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`
  }
  if (!headers['content-type']?.toLowerCase().includes(mediaType.replace(/.*\//, '')))
    headers['content-type'] = mediaType
  return headers
}
