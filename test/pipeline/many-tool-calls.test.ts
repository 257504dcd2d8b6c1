import { wireFormats } from '../../src/types/unions.ts'
import type { Catalog } from '../../src/types.ts'
import { eventFrame } from '../formats/support/event-stream.ts'
import { isCi } from '../support/ci.ts'
import { busyMs, roundsUntil } from '../support/cpu-time.ts'
import { assert, suite } from '../support/suite.ts'
import { chatChunk, messageAnswer } from './support/responses.ts'
import { questions } from './support/sample-requests.ts'
import { bodyOf, fakeUpstream, sse } from './support/upstream.ts'
import { openWorld } from './support/world.ts'

const catalog: Catalog = {
  chat: { baseUrl: 'http://chat.test/v1' },
  responses: { baseUrl: 'http://responses.test/v1', format: 'openai-responses' },
  claude: { baseUrl: 'http://claude.test/v1', format: 'anthropic-messages' },
  google: { baseUrl: 'http://google.test/v1', format: 'gemini' },
  bedrock: { cloud: 'bedrock', format: 'bedrock-converse' },
}

const connections = Object.keys(catalog).map((provider) => ({
  provider,
  apiKey: 'a-credential-0123456789',
  ...(provider === 'bedrock' && { providerSpecificData: { region: 'us-east-1' } }),
}))

const numbers = (count: number) => Array.from({ length: count }, (_, nth) => nth)
const chunked = (events: string[]) =>
  sse(Array.from({ length: Math.ceil(events.length / 50) }, (_, nth) => events.slice(nth * 50, nth * 50 + 50).join('')))
const named = (data: { type: string }) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
const begun = (nth: number, args: string) => ({
  index: nth,
  id: `call_${nth}`,
  type: 'function',
  function: { name: 'look', arguments: args },
})

/** Streams of this many calls, which are open concurrently if the format allows that. */
const streams: Record<string, (count: number) => Response> = {
  chat: (count) =>
    chunked([
      chatChunk({ role: 'assistant', content: 'I look.' }),
      ...numbers(count).map((nth) => chatChunk({ tool_calls: [begun(nth, '')] })),
      ...numbers(count).map((nth) =>
        chatChunk({ tool_calls: [{ index: nth, function: { arguments: `{"at":${nth}}` } }] }),
      ),
      chatChunk({}, 'tool_calls'),
      'data: [DONE]\n\n',
    ]),
  responses: (count) => {
    const response = { id: 'r1', object: 'response', created_at: 1, status: 'in_progress', model: 'm', output: [] }
    const item = (nth: number, more: object) => ({
      type: 'function_call',
      id: `fc_${nth}`,
      call_id: `call_${nth}`,
      name: 'look',
      ...more,
    })
    const output = numbers(count).map((nth) => item(nth, { arguments: `{"at":${nth}}`, status: 'completed' }))
    return chunked([
      named({ type: 'response.created', response } as { type: string }),
      ...numbers(count).map((nth) =>
        named({
          type: 'response.output_item.added',
          output_index: nth,
          item: item(nth, { arguments: '', status: 'in_progress' }),
        } as { type: string }),
      ),
      ...numbers(count).map((nth) =>
        named({
          type: 'response.function_call_arguments.delta',
          item_id: `fc_${nth}`,
          output_index: nth,
          delta: `{"at":${nth}}`,
        } as { type: string }),
      ),
      ...numbers(count).map((nth) =>
        named({ type: 'response.output_item.done', output_index: nth, item: output[nth] } as { type: string }),
      ),
      named({ type: 'response.completed', response: { ...response, status: 'completed', output } } as { type: string }),
    ])
  },
  claude: (count) =>
    chunked(
      [
        { type: 'message_start', message: { ...messageAnswer(), content: [], stop_reason: null } },
        ...numbers(count).map((index) => ({
          type: 'content_block_start',
          index,
          content_block: { type: 'tool_use', id: `call_${index}`, name: 'look', input: {} },
        })),
        ...numbers(count).map((index) => ({
          type: 'content_block_delta',
          index,
          delta: { type: 'input_json_delta', partial_json: `{"at":${index}}` },
        })),
        ...numbers(count).map((index) => ({ type: 'content_block_stop', index })),
        { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 5 } },
        { type: 'message_stop' },
      ].map(named),
    ),
  google: (count) =>
    chunked([
      ...numbers(count).map(
        (nth) =>
          `data: ${JSON.stringify({ candidates: [{ content: { role: 'model', parts: [{ functionCall: { name: 'look', args: { at: nth } } }] }, index: 0 }] })}\n\n`,
      ),
      `data: ${JSON.stringify({ candidates: [{ content: { role: 'model', parts: [{ text: '' }] }, finishReason: 'STOP', index: 0 }] })}\n\n`,
    ]),
  bedrock: (count) =>
    new Response(
      bodyOf([
        eventFrame('messageStart', { role: 'assistant' }),
        ...numbers(count).flatMap((contentBlockIndex) => [
          eventFrame('contentBlockStart', {
            contentBlockIndex,
            start: { toolUse: { toolUseId: `call_${contentBlockIndex}`, name: 'look' } },
          }),
          eventFrame('contentBlockDelta', {
            contentBlockIndex,
            delta: { toolUse: { input: `{"at":${contentBlockIndex}}` } },
          }),
        ]),
        ...numbers(count).map((contentBlockIndex) => eventFrame('contentBlockStop', { contentBlockIndex })),
        eventFrame('messageStop', { stopReason: 'tool_use' }),
      ]),
      { headers: { 'content-type': 'application/vnd.amazon.eventstream' } },
    ),
}

/** Returns the tool calls of a stream, with `more` as other content between them. */
const between = (count: number, begin: (nth: number) => object, more: object) =>
  chunked([
    chatChunk({ role: 'assistant', content: 'I look.' }),
    ...numbers(count).flatMap((nth) => [chatChunk({ tool_calls: [begin(nth)] }), chatChunk(more)]),
    chatChunk({ content: `${count - 1}` }, 'tool_calls'),
    'data: [DONE]\n\n',
  ])

Object.assign(streams, {
  'chat, with text between the calls': (count: number) =>
    between(count, (nth) => begun(nth, '{"at":'), { content: '.' }),
  'chat, with reasoning between the calls': (count: number) =>
    between(count, (nth) => begun(nth, '{"at":'), { reasoning_content: '.' }),
  'chat, with text between calls without arguments': (count: number) =>
    between(count, (nth) => begun(nth, ''), { content: '.' }),
  'chat, with text between complete calls': (count: number) =>
    between(count, (nth) => begun(nth, `{"at":${nth}}`), { content: '.' }),
  'chat, all with one id': (count: number) =>
    between(count, (nth) => ({ ...begun(nth, `{"at":${nth}}`), id: 'call_0' }), {}),
  'chat, all in one event': (count: number) =>
    chunked([
      chatChunk({ tool_calls: numbers(count).map((nth) => begun(nth, `{"at":${nth}}`)) }),
      chatChunk({}, 'tool_calls'),
      'data: [DONE]\n\n',
    ]),
})

/** The limit on the growth for five times as many calls: 5 if the time is linear, and up to 25 if it is quadratic. */
const MAX_RATIO = 11

/** Durations below this, in ms, are too short to compare. */
const LEAST_MS = 12

const calls = suite('10,000 parallel tool calls')

for (const [at, [modelOutput, stream]] of Object.entries(streams).entries()) {
  const [provider = ''] = modelOutput.split(',')
  for (const format of isCi ? wireFormats : [wireFormats[at % wireFormats.length] ?? 'openai-chat']) {
    calls(
      `10,000 parallel tool calls take about five times as long as 2,000: a stream of ${modelOutput} for a client of ${format}`,
      async () => {
        let count = 0
        const world = await openWorld({ fetch: fakeUpstream(() => stream(count)), catalog, connections })
        const msOf = async (requested: number) => {
          count = requested
          const begin = busyMs()
          const response = await world.post(...questions[format](`${provider}/m`, true))
          const text = await response.text()
          const ms = busyMs() - begin
          assert.ok(text.includes(`${requested - 1}`), text.slice(-300))
          return ms
        }
        await msOf(1_000) // warms up the code
        const few = Math.max(LEAST_MS, await msOf(2_000))
        const many = await roundsUntil(MAX_RATIO * few, () => msOf(10_000))
        assert.ok(Math.min(...many) <= MAX_RATIO * few, `${few} ms for 2,000, ${many} ms for 10,000`)
      },
    )
  }
}

const names = suite('an unknown name among 3,000')
const MOST_MS = 30

names('an unknown name among 3,000 gets a suggestion within milliseconds', async () => {
  const ids = numbers(3_000).map((nth) => `vendor-${nth % 60}/model-name-${nth}-instruct-preview-2026`)
  const enabled = { provider: 'chat', apiKey: 'a-credential-0123456789', providerSpecificData: { enabledModels: ids } }
  const world = await openWorld({ fetch: fakeUpstream(() => sse([])), catalog, connections: [enabled] })
  let requestCount = 0
  const rounds = await roundsUntil(MOST_MS, async () => {
    const begin = busyMs()
    const response = await world.chat({
      model: `chatt/vendor-17/model-nme-77-instruct-preview-2026${requestCount++ % 10}`,
    })
    const { error } = await response.json()
    const ms = busyMs() - begin
    assert.is(response.status, 404)
    assert.match(error.message, /Did you mean "chat\/vendor-17\/model-name-77-instruct-preview-2026"/)
    return ms
  })
  assert.ok(Math.min(...rounds) <= MOST_MS, `${rounds} ms`)
})
