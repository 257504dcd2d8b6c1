import type { JsonObject } from '../../../src/lib/json.ts'
import type { Catalog, WireFormat } from '../../../src/types.ts'
import {
  type Call,
  type FakeUpstream,
  fakeUpstream,
  getBody,
  type Respond,
  sse,
} from '../../pipeline/support/upstream.ts'
import { openWorld, type World, type WorldOptions } from '../../pipeline/support/world.ts'

/** One provider per format without known quirks, and some with known quirks. */
const formats: Readonly<Record<string, WireFormat>> = {
  chat: 'openai-chat',
  responses: 'openai-responses',
  messages: 'anthropic-messages',
  gemini: 'gemini',
  ...{ openai: 'openai-chat', mistral: 'openai-chat', deepseek: 'openai-chat', alibaba: 'openai-chat' },
  ...{ anthropic: 'anthropic-messages', vertex: 'anthropic-messages' },
}

export const catalog: Catalog = Object.fromEntries(
  Object.entries(formats).map(([id, format]) => [
    id,
    { baseUrl: `http://${id}.test/v1`, format, models: [{ id: 'm' }, { id: 'n', contextWindow: 1_000_000 }] },
  ]),
)

/** Returns the format of the provider in `provider/model`. */
export const getFormat = (model: string): WireFormat => formats[model.split('/')[0] ?? ''] ?? 'openai-chat'

/** The provider of each format. */
export const providerOf: Readonly<Record<WireFormat, string>> = {
  'openai-chat': 'chat',
  'openai-responses': 'responses',
  'anthropic-messages': 'messages',
  gemini: 'gemini',
}

const hello = [{ role: 'user', content: 'Hi' }]

/** Returns each client's path and minimal body. */
const asking: Readonly<Record<WireFormat, (model: string, stream: boolean) => [path: string, body: JsonObject]>> = {
  'openai-chat': (model, stream) => ['/v1/chat/completions', { model, stream, messages: hello }],
  'openai-responses': (model, stream) => ['/v1/responses', { model, stream, input: 'Hi' }],
  'anthropic-messages': (model, stream) => ['/v1/messages', { model, stream, max_tokens: 4_096, messages: hello }],
  gemini: (model, stream) => [
    `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
  ],
}

export interface Sent {
  response: Response
  /** The request that the provider received. */
  sent: JsonObject
  warned: string[]
  call: Call | undefined
  upstream: FakeUpstream
  world: World
}

export interface RequestInput extends WorldOptions {
  client: WireFormat
  /** `provider/model`. */
  model: string
  respond: Respond
  body?: JsonObject
  stream?: boolean
  headers?: Record<string, string>
}

/** Sends a client's request through a gateway where all providers respond as given. */
export async function send(input: RequestInput): Promise<Sent> {
  const { client, model, respond, body, stream, headers, ...options } = input
  const [provider = ''] = model.split('/')
  const { upstream, world } = await openGateway(respond, { connections: [provider], ...options })
  const response = await request(world, input)
  const [call] = upstream.calls
  const warned = response.headers.get('x-signalbox-warning')?.split(', ') ?? []
  return { response, sent: JSON.parse(call?.body || '{}'), warned, call, upstream, world }
}

/** Opens a gateway where all providers respond as given. */
export async function openGateway(
  respond: Respond,
  options: WorldOptions = {},
): Promise<{ upstream: FakeUpstream; world: World }> {
  const upstream = fakeUpstream(respond)
  return {
    upstream,
    world: await openWorld({ fetch: upstream, catalog, connections: Object.values(providerOf), ...options }),
  }
}

/** Creates a client's request. */
export function request(
  world: World,
  { client, model, body, stream, headers }: Omit<RequestInput, 'respond'>,
): Promise<Response> {
  const [path, least] = asking[client](model, stream ?? false)
  return world.post(path, { ...least, ...body }, { headers: headers ?? {} })
}

/** Returns events as a provider of the format sends them, one string per event. */
export function getEvents(format: WireFormat, events: readonly (JsonObject | '[DONE]')[]): string[] {
  const isNamed = format === 'anthropic-messages' || format === 'openai-responses'
  return events.map((event) => {
    if (event === '[DONE]') return 'data: [DONE]\n\n'
    return `${isNamed ? `event: ${event.type}\n` : ''}data: ${JSON.stringify(event)}\n\n`
  })
}

/** Returns the events as a streamed response. */
export const getStream = (format: WireFormat, events: readonly (JsonObject | '[DONE]')[]): Response =>
  sse(getEvents(format, events))

/** Yields bytes one by one. */
export function* byteByByte(bytes: Uint8Array): Iterable<Uint8Array> {
  for (let index = 0; index < bytes.length; index++) yield bytes.subarray(index, index + 1)
}

export const bytesResponse = (chunks: Iterable<Uint8Array>): Response =>
  new Response(getBody(chunks), { headers: { 'content-type': 'text/event-stream' } })

/** Returns the data of each event in a client's stream. */
export async function getData(response: Response): Promise<JsonObject[]> {
  const text = await response.text()
  return [...text.matchAll(/^data: (\{.*)$/gm)].map(([, json = '']) => JSON.parse(json))
}

/** Creates a Chat Completions chunk. */
export const delta = (fields: JsonObject, finish: string | null = null): JsonObject => ({
  id: 'c1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta: fields, finish_reason: finish }],
})
