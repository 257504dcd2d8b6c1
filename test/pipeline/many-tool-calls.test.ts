import { wireFormats } from '../../src/types/unions.ts'
import type { Catalog } from '../../src/types.ts'
import { eventFrame } from '../formats/support/event-stream.ts'
import { isCi } from '../support/ci.ts'
import { busyMs, roundsUntil } from '../support/cpu-time.ts'
import { assert, suite } from '../support/suite.ts'
import { chatChunk, messageResponse } from './support/responses.ts'
import { questions } from './support/sample-requests.ts'
import { fakeUpstream, getBody, sse } from './support/upstream.ts'
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

const getNumbers = (count: number) => Array.from({ length: count }, (_, index) => index)
const toChunks = (events: string[]) =>
  sse(
    Array.from({ length: Math.ceil(events.length / 50) }, (_, index) =>
      events.slice(index * 50, index * 50 + 50).join(''),
    ),
  )
const formatEvent = (data: { type: string }) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
const begun = (index: number, args: string) => ({
  index,
  id: `call_${index}`,
  type: 'function',
  function: { name: 'look', arguments: args },
})

/** Streams with this many calls, all open concurrently if the format allows it. */
const streams: Record<string, (count: number) => Response> = {
  chat: (count) =>
    toChunks([
      chatChunk({ role: 'assistant', content: 'I look.' }),
      ...getNumbers(count).map((index) => chatChunk({ tool_calls: [begun(index, '')] })),
      ...getNumbers(count).map((index) =>
        chatChunk({ tool_calls: [{ index, function: { arguments: `{"at":${index}}` } }] }),
      ),
      chatChunk({}, 'tool_calls'),
      'data: [DONE]\n\n',
    ]),
  responses: (count) => {
    const response = { id: 'r1', object: 'response', created_at: 1, status: 'in_progress', model: 'm', output: [] }
    const item = (index: number, extra: object) => ({
      type: 'function_call',
      id: `fc_${index}`,
      call_id: `call_${index}`,
      name: 'look',
      ...extra,
    })
    const output = getNumbers(count).map((index) => item(index, { arguments: `{"at":${index}}`, status: 'completed' }))
    return toChunks([
      formatEvent({ type: 'response.created', response } as { type: string }),
      ...getNumbers(count).map((index) =>
        formatEvent({
          type: 'response.output_item.added',
          output_index: index,
          item: item(index, { arguments: '', status: 'in_progress' }),
        } as { type: string }),
      ),
      ...getNumbers(count).map((index) =>
        formatEvent({
          type: 'response.function_call_arguments.delta',
          item_id: `fc_${index}`,
          output_index: index,
          delta: `{"at":${index}}`,
        } as { type: string }),
      ),
      ...getNumbers(count).map((index) =>
        formatEvent({ type: 'response.output_item.done', output_index: index, item: output[index] } as {
          type: string
        }),
      ),
      formatEvent({ type: 'response.completed', response: { ...response, status: 'completed', output } } as {
        type: string
      }),
    ])
  },
  claude: (count) =>
    toChunks(
      [
        { type: 'message_start', message: { ...messageResponse(), content: [], stop_reason: null } },
        ...getNumbers(count).map((index) => ({
          type: 'content_block_start',
          index,
          content_block: { type: 'tool_use', id: `call_${index}`, name: 'look', input: {} },
        })),
        ...getNumbers(count).map((index) => ({
          type: 'content_block_delta',
          index,
          delta: { type: 'input_json_delta', partial_json: `{"at":${index}}` },
        })),
        ...getNumbers(count).map((index) => ({ type: 'content_block_stop', index })),
        { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 5 } },
        { type: 'message_stop' },
      ].map(formatEvent),
    ),
  google: (count) =>
    toChunks([
      ...getNumbers(count).map(
        (index) =>
          `data: ${JSON.stringify({ candidates: [{ content: { role: 'model', parts: [{ functionCall: { name: 'look', args: { at: index } } }] }, index: 0 }] })}\n\n`,
      ),
      `data: ${JSON.stringify({ candidates: [{ content: { role: 'model', parts: [{ text: '' }] }, finishReason: 'STOP', index: 0 }] })}\n\n`,
    ]),
  bedrock: (count) =>
    new Response(
      getBody([
        eventFrame('messageStart', { role: 'assistant' }),
        ...getNumbers(count).flatMap((contentBlockIndex) => [
          eventFrame('contentBlockStart', {
            contentBlockIndex,
            start: { toolUse: { toolUseId: `call_${contentBlockIndex}`, name: 'look' } },
          }),
          eventFrame('contentBlockDelta', {
            contentBlockIndex,
            delta: { toolUse: { input: `{"at":${contentBlockIndex}}` } },
          }),
        ]),
        ...getNumbers(count).map((contentBlockIndex) => eventFrame('contentBlockStop', { contentBlockIndex })),
        eventFrame('messageStop', { stopReason: 'tool_use' }),
      ]),
      { headers: { 'content-type': 'application/vnd.amazon.eventstream' } },
    ),
}

/** Returns a stream's tool calls, with `extra` as other content between them. */
const between = (count: number, begin: (nth: number) => object, extra: object) =>
  toChunks([
    chatChunk({ role: 'assistant', content: 'I look.' }),
    ...getNumbers(count).flatMap((index) => [chatChunk({ tool_calls: [begin(index)] }), chatChunk(extra)]),
    chatChunk({ content: `${count - 1}` }, 'tool_calls'),
    'data: [DONE]\n\n',
  ])

Object.assign(streams, {
  'chat, with text between the calls': (count: number) =>
    between(count, (index) => begun(index, '{"at":'), { content: '.' }),
  'chat, with reasoning between the calls': (count: number) =>
    between(count, (index) => begun(index, '{"at":'), { reasoning_content: '.' }),
  'chat, with text between calls without arguments': (count: number) =>
    between(count, (index) => begun(index, ''), { content: '.' }),
  'chat, with text between complete calls': (count: number) =>
    between(count, (index) => begun(index, `{"at":${index}}`), { content: '.' }),
  'chat, all with one id': (count: number) =>
    between(count, (index) => ({ ...begun(index, `{"at":${index}}`), id: 'call_0' }), {}),
  'chat, all in one event': (count: number) =>
    toChunks([
      chatChunk({ tool_calls: getNumbers(count).map((index) => begun(index, `{"at":${index}}`)) }),
      chatChunk({}, 'tool_calls'),
      'data: [DONE]\n\n',
    ]),
})

/** The maximum growth factor for five times as many calls: 5 for linear time, and up to 25 for quadratic time. */
const MAX_RATIO = 11

/** Durations below this number of ms are too short to compare. */
const LEAST_MS = 12

const calls = suite('10,000 parallel tool calls')

for (const [index, [modelOutput, stream]] of Object.entries(streams).entries()) {
  const [provider = ''] = modelOutput.split(',')
  for (const format of isCi ? wireFormats : [wireFormats[index % wireFormats.length] ?? 'openai-chat']) {
    calls(
      `10,000 parallel tool calls take about five times as long as 2,000: ${modelOutput} stream, ${format} client`,
      async () => {
        let count = 0
        const world = await openWorld({ fetch: fakeUpstream(() => stream(count)), catalog, connections })
        const getMs = async (requested: number) => {
          count = requested
          const begin = busyMs()
          const response = await world.post(...questions[format](`${provider}/m`, true))
          const text = await response.text()
          const ms = busyMs() - begin
          assert.ok(text.includes(`${requested - 1}`), text.slice(-300))
          return ms
        }
        await getMs(1_000) // warms up the code
        const few = Math.max(LEAST_MS, await getMs(2_000))
        const many = await roundsUntil(MAX_RATIO * few, () => getMs(10_000))
        assert.ok(Math.min(...many) <= MAX_RATIO * few, `${few} ms for 2,000, ${many} ms for 10,000`)
      },
    )
  }
}

const names = suite('an unknown name among 3,000 models')
const MOST_MS = 30

names('an unknown model name among 3,000 gets a suggestion within milliseconds', async () => {
  const ids = getNumbers(3_000).map((index) => `vendor-${index % 60}/model-name-${index}-instruct-preview-2026`)
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
