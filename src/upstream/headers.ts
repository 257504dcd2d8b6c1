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

/** The provider's headers that the client may see, names in lower case. */
export function replyHeaders(answer: UpstreamAnswer): Record<string, string> {
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
      listed?.includes(name)
    )
      continue
    headers[name] = value
  }
  return headers
}
