import { inspect } from 'node:util'
import { encodeUtf8, toBase64, toBase64Url, toHex } from '../../../src/lib/bytes.ts'
import type { Catalog, WireFormat } from '../../../src/types.ts'
import { eventFrame } from '../../formats/support/event-stream.ts'
import { chatEvents, messageEvents } from './responses.ts'
import { type End, fakeUpstream, getBody } from './upstream.ts'
import { openWorld, type World } from './world.ts'

/** The key of the called connection, another connection's key, and a string that looks like a key but isn't one. */
export const OWN = 'own+key/of-this?connection=1~'
export const OTHER = 'other+key/of-another?account=2~'
export const SHAPE = 'sk-proj-abcDEF0123456789abcDEF0123456789'

const percent = (text: string) => [...encodeUtf8(text)].map((byte) => `%${toHex(Uint8Array.of(byte))}`).join('')

/** The encodings in which a key may be quoted. */
export const forms: Record<string, (key: string) => string> = {
  base64: (key) => toBase64(encodeUtf8(key)),
  'base64 with a user': (key) => toBase64(encodeUtf8(`user:${key}`)),
  'base64 with a longer user': (key) => toBase64(encodeUtf8(`a-user:${key}`)),
  'URL-safe base64': (key) => toBase64Url(encodeUtf8(`Bearer ${key}`)),
  hex: (key) => toHex(encodeUtf8(key)),
  'uppercase hex': (key) => toHex(encodeUtf8(key)).toUpperCase(),
  'percent encoding': (key) => (encodeURIComponent(key) === key ? percent(key) : encodeURIComponent(key)),
  'percent encoding of each character': percent,
  'uppercase percent encoding': (key) => percent(key).toUpperCase(),
}

/** A provider of each format, and a spare one. */
export const catalog: Catalog = {
  chat: { baseUrl: 'http://chat.test/v1' },
  responses: { baseUrl: 'http://responses.test/v1', format: 'openai-responses' },
  claude: { baseUrl: 'http://claude.test/v1', format: 'anthropic-messages' },
  google: { baseUrl: 'http://google.test/v1', format: 'gemini' },
  bedrock: { cloud: 'bedrock', format: 'bedrock-converse' },
  spare: { baseUrl: 'http://spare.test/v1' },
}

const connections = [
  ...['chat', 'responses', 'claude', 'google'].map((provider) => ({ provider, apiKey: OWN })),
  { provider: 'bedrock', apiKey: OWN, providerSpecificData: { region: 'us-east-1' } },
  { provider: 'spare', apiKey: OTHER },
]

const data = (value: object, event?: string) => `${event ? `event: ${event}\n` : ''}data: ${JSON.stringify(value)}\n\n`

/** The events that each provider sends before the error. */
export const starts: Record<string, () => (string | Uint8Array)[]> = {
  chat: () => chatEvents().slice(0, 2),
  responses: () => [
    data(
      { type: 'response.created', response: { id: 'r1', object: 'response', status: 'in_progress', output: [] } },
      'response.created',
    ),
    data(
      { type: 'response.output_text.delta', item_id: 'i1', output_index: 0, content_index: 0, delta: 'Hello ' },
      'response.output_text.delta',
    ),
  ],
  claude: () => messageEvents().slice(0, 4),
  google: () => [data({ candidates: [{ content: { role: 'model', parts: [{ text: 'Hello ' }] }, index: 0 }] })],
  bedrock: () => [
    eventFrame('messageStart', { role: 'assistant' }),
    eventFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Hello ' } }),
  ],
}

const hi = [{ role: 'user', content: 'Hi' }]
const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]
const METHODS = { true: 'streamGenerateContent?alt=sse', false: 'generateContent', count: 'countTokens' }

/** The requests of each format's clients. */
export const questions: Record<WireFormat, (model: string, stream: boolean | 'count') => [path: string, body: object]> =
  {
    'openai-chat': (model, stream) => ['/v1/chat/completions', { model, stream: stream === true, messages: hi }],
    'openai-responses': (model, stream) =>
      stream === 'count'
        ? ['/v1/responses/input_tokens', { model, input: 'Hi' }]
        : ['/v1/responses', { model, stream, input: 'Hi' }],
    'anthropic-messages': (model, stream) =>
      stream === 'count'
        ? ['/v1/messages/count_tokens', { model, messages: hi }]
        : ['/v1/messages', { model, stream, max_tokens: 9, messages: hi }],
    gemini: (model, stream) => [`/v1beta/models/${model}:${METHODS[`${stream}`]}`, { contents }],
  }

/** A gateway with providers whose next responses can be set. */
export interface QuotingWorld extends World {
  logged: unknown[]
  /** Sets the response to the next requests. An array of chunks is sent as a stream. */
  quote(answer: () => Response | (string | Uint8Array)[], end?: End): void
}

export async function openQuoting(): Promise<QuotingWorld> {
  const logged: unknown[] = []
  const log = (...line: unknown[]) => void logged.push(line)
  let respond: () => Response | (string | Uint8Array)[] = () => []
  let end: End = 'close'
  const upstream = fakeUpstream(({ provider }) => {
    const input = respond()
    if (input instanceof Response) return input
    const type = provider === 'bedrock' ? 'application/vnd.amazon.eventstream' : 'text/event-stream'
    return new Response(getBody(input, end), { headers: { 'content-type': type } })
  })
  const logger = { debug: log, info: log, warn: log, error: log }
  const world = await openWorld({ fetch: upstream, catalog, connections, logger })
  return {
    ...world,
    logged,
    quote(next, nextEnd = 'close') {
      respond = next
      end = nextEnd
    },
  }
}

/** Returns everything exposed since the previous request, including with JSON escapes decoded, and then restores the target's health. */
export async function collectShown(world: QuotingWorld, response: Response): Promise<string> {
  const text = new TextDecoder().decode(await response.arrayBuffer())
  const health = await world.api.health.list()
  const rest = inspect([[...response.headers], world.recorded, world.logged, health], { depth: null, breakLength: 200 })
  const all = `${text}\n${rest}`
  for (const list of [...Object.values(world.recorded), world.logged]) list.length = 0
  await world.clock.advance(3_600_000)
  const plain = all
    .replaceAll('\\/', '/')
    .replace(/\\u([0-9a-f]{4})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
  return `${all}\n${plain}`
}
