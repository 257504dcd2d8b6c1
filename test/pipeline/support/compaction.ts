import type { JsonObject } from '../../../src/lib/json.ts'
import type { Catalog, WireFormat } from '../../../src/types.ts'
import { fullResponses, output } from '../../formats/cases/responses.ts'
import { catalog, getEvents, providerOf } from '../../formats/cases/support.ts'
import { converseFrames, converseResponse } from '../../formats/support/event-stream.ts'
import { assert } from '../../support/suite.ts'
import { type Call, type FakeUpstream, fakeUpstream, getBody, json, type Respond, sse } from './upstream.ts'
import { openWorld, type World, type WorldOptions } from './world.ts'

/** Words in the summary instructions, by which a fake provider recognizes a summary request. */
export const ASKS_FOR_SUMMARY = 'write a summary of the whole conversation'

export const SUMMARY = 'The task: count the ducks. Found so far: 7 ducks.'

const bedrock: Catalog = { bedrock: { cloud: 'bedrock', format: 'bedrock-converse' } }

/** A provider that supports compaction itself, one provider of each format that doesn't, and Bedrock. */
const providers: Catalog = {
  ...catalog,
  ...bedrock,
  openai: { baseUrl: 'http://openai.test/v1', format: 'openai-responses', models: [{ id: 'm' }] },
}

export const models = {
  chat: 'chat/m',
  messages: 'messages/m',
  gemini: 'gemini/m',
  responses: 'responses/m',
  bedrock: 'bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0',
} as const

/** A conversation with a tool call, as Responses clients send it. */
export const conversation: readonly JsonObject[] = [
  { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Count the ducks.' }] },
  { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I look at the pond.' }] },
  { type: 'function_call', call_id: 'call_pond_0815', name: 'look', arguments: '{"at":"pond"}' },
  { type: 'function_call_output', call_id: 'call_pond_0815', output: '7 ducks' },
  { type: 'message', role: 'user', content: 'And the lake?' },
]

export const tools = [{ type: 'function', name: 'look', parameters: { type: 'object', properties: {} } }]

const getFormat = ({ provider }: Call): WireFormat | 'bedrock-converse' => {
  if (provider.startsWith('bedrock')) return 'bedrock-converse'
  const found = Object.entries(providerOf).find(([, name]) => name === provider)?.[0] as WireFormat | undefined
  return found ?? 'openai-responses'
}

export const isStream = ({ url, body }: Pick<Call, 'url' | 'body'>): boolean =>
  url.href.includes(':streamGenerateContent') || JSON.parse(body).stream === true

/** Creates a provider's response in the format of the call. */
export function respondWith(call: Call, text: string): Response {
  const format = getFormat(call)
  if (format === 'bedrock-converse') {
    if (!call.url.pathname.endsWith('/converse-stream')) return json(converseResponse(text))
    return new Response(getBody(converseFrames(text)), { headers: { 'content-type': EVENT_STREAM } })
  }
  if (isStream(call)) return sse(getEvents(format, output[format](...text.split(/(?<= )/))))
  return json(JSON.parse(JSON.stringify(fullResponses[format]).replaceAll('"a"', JSON.stringify(text))))
}

const EVENT_STREAM = 'application/vnd.amazon.eventstream'

/** Providers that write a summary if asked for one, and otherwise respond normally. */
export const obliging: Respond = (call) => respondWith(call, call.body.includes(ASKS_FOR_SUMMARY) ? SUMMARY : '3 more')

export interface Opened {
  upstream: FakeUpstream
  world: World
  /** Returns the body of the nth call. */
  sent(nth: number): JsonObject
}

export async function open(respond: Respond = obliging, options: WorldOptions = {}): Promise<Opened> {
  const upstream = fakeUpstream(respond)
  const world = await openWorld({
    fetch: upstream,
    catalog: providers,
    connections: [
      ...Object.values(providerOf),
      'openai',
      { provider: 'bedrock', providerSpecificData: { region: 'eu-west-1' } },
    ],
    ...options,
  })
  return { upstream, world, sent: (index) => JSON.parse(upstream.calls.at(index)?.body ?? '{}') }
}

/** Returns the JSON of a response, which must be successful. */
export async function answerOf(response: Response): Promise<JsonObject> {
  const text = await response.text()
  assert.is(response.status, 200, text)
  return JSON.parse(text)
}

/** Returns the output of a response, streamed or not. */
export async function getOutput(response: Response): Promise<JsonObject[]> {
  const text = await response.text()
  assert.is(response.status, 200, text)
  if (!text.startsWith('event:')) return JSON.parse(text).output
  const [, end = ''] = /^event: response\.completed\ndata: (.*)$/m.exec(text) ?? []
  assert.ok(end, text)
  return JSON.parse(end).response.output
}

/** Returns the last item, which must be a compaction. */
export function getCompaction(output: readonly JsonObject[]): JsonObject {
  const item = output.at(-1) ?? {}
  assert.is(item.type, 'compaction')
  return item
}

/** Requests a compaction instead of a response. */
export const triggered = {
  input: [...conversation, { type: 'compaction_trigger' }],
  tools,
  tool_choice: 'required',
}

/** Requests a compaction before the response if the conversation exceeds this many tokens. */
export const createManaged = (compact_threshold?: number) => ({
  input: conversation,
  tools,
  context_management: [{ type: 'compaction', ...(compact_threshold !== undefined && { compact_threshold }) }],
})

export const getTypes = (output: readonly JsonObject[]) => output.map(({ type }) => type)
