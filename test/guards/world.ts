import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createGateway, type Gateway } from '../../src/gateway.ts'
import type { GatewayOptions, Guard } from '../../src/index.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { type FakeUpstream, fakeUpstream, json, sse } from '../pipeline/support/upstream.ts'

export const WORD = 'SESAME'

/** A guard that rejects `WORD`. */
export const w: Guard = {
  name: 'w',
  check: ({ parts }) =>
    parts.some(({ text, before = '' }) => (before + text).includes(WORD))
      ? { verdict: 'refuse', category: 'word' }
      : undefined,
}

/** How to build a minimal request with `text` in a client format. */
export interface ClientRequest {
  path(stream: boolean): string
  body(text: string): JsonObject
  headers?: Record<string, string>
}

export const clients = {
  'openai-chat': {
    path: () => '/v1/chat/completions',
    body: (text) => ({ model: 'one/m', messages: [{ role: 'user', content: text }] }),
  },
  'openai-responses': { path: () => '/v1/responses', body: (text) => ({ model: 'one/m', input: text }) },
  'anthropic-messages': {
    path: () => '/v1/messages',
    body: (text) => ({ model: 'one/m', max_tokens: 9, messages: [{ role: 'user', content: text }] }),
  },
  gemini: {
    path: (stream) => `/v1beta/models/one/m:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: (text) => ({ contents: [{ role: 'user', parts: [{ text }] }] }),
  },
  'gemini, as an array': {
    path: (stream) => `/v1beta/models/one/m:${stream ? 'streamGenerateContent' : 'generateContent'}`,
    body: (text) => ({ contents: [{ role: 'user', parts: [{ text }] }] }),
  },
  'ai-sdk': {
    path: () => '/v3/ai/language-model',
    headers: { 'ai-language-model-id': 'one/m', 'ai-language-model-specification-version': '3' },
    body: (text) => ({ prompt: [{ role: 'user', content: [{ type: 'text', text }] }] }),
  },
} as const satisfies Record<string, ClientRequest>

export type ClientName = keyof typeof clients
export const clientNames = Object.keys(clients) as ClientName[]

export interface World {
  upstream: FakeUpstream
  send(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>
  /** Sends a minimal request with `text` in a client's format. */
  say(client: ClientName, text: string, more?: { stream?: boolean; body?: JsonObject }): Promise<Response>
  errors: unknown[]
  fetch(request: Request): Promise<Response>
  api: Gateway['api']
}

/** Opens a gateway with guards and one chat provider. */
export async function openWorld(
  guards: readonly Guard[],
  {
    response = chatResponse(),
    events = [],
    format = 'openai-chat',
    options = {},
  }: {
    response?: object
    events?: Iterable<string> | AsyncIterable<string>
    format?: string
    options?: Partial<GatewayOptions>
  } = {},
): Promise<World> {
  const isStream = ({ url, body }: { url: URL; body: string }) =>
    /stream/.test(url.href) || JSON.parse(body).stream === true
  const upstream = fakeUpstream((call) => (isStream(call) ? sse(events) : json(response)))
  const errors: unknown[] = []
  const gateway = createGateway({
    ...{ storage: memoryStorage(), fetch: upstream, logger: false, guards },
    hooks: { onError: (error) => void errors.push(error) },
    ...options,
  })
  await gateway.api.connections.create({
    provider: 'openai-compatible-one',
    apiKey: 'k',
    providerSpecificData: { baseUrl: 'https://one.test/v1', prefix: 'one', format: format as 'openai-chat' },
  })
  const send = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    gateway.fetch(`http://gateway${path}`, {
      method: 'POST',
      headers: { ...(!(body instanceof FormData) && { 'content-type': 'application/json' }), ...headers },
      body: typeof body === 'string' || body instanceof FormData ? body : JSON.stringify(body),
    })
  return {
    ...{ upstream, send, errors, api: gateway.api, fetch: (request) => gateway.fetch(request) },
    say(name, text, { stream = false, body = {} } = {}) {
      const client: ClientRequest = clients[name]
      const streams = name.startsWith('openai') || name.startsWith('anthropic')
      return send(
        client.path(stream),
        { ...client.body(text), ...(streams && { stream }), ...body },
        { ...client.headers, ...(name === 'ai-sdk' && { 'ai-language-model-streaming': `${stream}` }) },
      )
    },
  }
}
