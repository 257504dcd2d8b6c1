import { assert, suite } from '../support/suite.ts'
import { chatChunk } from './support/responses.ts'
import { fakeUpstream, json, sse } from './support/upstream.ts'
import { catalog, openWorld } from './support/world.ts'

const test = suite('empty responses')

const kept = { baseUrl: 'http://kept.test/v1', format: 'openai-responses', models: [{ id: 'r' }] } as const

/** One model for each provider format. */
const models = { chat: 'one/m', messages: 'claude/c', gemini: 'google/g', responses: 'kept/r' } as const
type Name = keyof typeof models

const event = (fields: { type: string; [name: string]: unknown }) =>
  `event: ${fields.type}\ndata: ${JSON.stringify(fields)}\n\n`
const data = (value: object) => `data: ${JSON.stringify(value)}\n\n`
const DONE = 'data: [DONE]\n\n'

/** Returns the outcome of a request for which two targets of the same format return the same response. */
async function send(name: Name, respond: () => Response, stream: boolean) {
  const upstream = fakeUpstream(respond)
  const model = models[name]
  const world = await openWorld({
    fetch: upstream,
    catalog: { ...catalog, kept },
    connections: ['one', 'claude', 'google', 'kept'],
    combos: { chain: [model, `${model}2`] },
  })
  const requests = {
    chat: () => world.chat({ model: 'chain', stream }),
    messages: () => world.messages({ model: 'chain', stream }),
    gemini: () =>
      world.post(`/v1beta/models/chain:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`, {
        contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
      }),
    responses: () => world.post('/v1/responses', { model: 'chain', input: 'Hi', stream }),
  }
  const response = await requests[name]()
  return { status: response.status, text: await response.text(), attempts: world.recorded.attempts, world }
}

const choice = (message: unknown, finish_reason: string | null = 'stop') => ({
  choices: [{ index: 0, message, finish_reason }],
})
const createMessage = (extra: object) => choice({ role: 'assistant', content: '', ...extra })
const message = (content: unknown, stop_reason: string | null = 'end_turn') => ({
  type: 'message',
  role: 'assistant',
  content,
  stop_reason,
})
const candidate = (extra: object) => ({ candidates: [{ finishReason: 'STOP', index: 0, ...extra }] })
const parts = (...list: object[]) => candidate({ content: { role: 'model', parts: list } })
const response = (output: object[], status = 'completed') => ({
  id: 'r1',
  object: 'response',
  status,
  error: null,
  output,
})
const item = (...content: object[]) => ({ type: 'message', id: 'm1', role: 'assistant', status: 'completed', content })
const text = (modelOutput: string) => ({ type: 'output_text', text: modelOutput, annotations: [] })

const blank: readonly (readonly [Name, object])[] = [
  ['chat', createMessage({})],
  ['chat', createMessage({ content: null, refusal: null, tool_calls: [], annotations: [], prefix: false })],
  ['chat', choice({ role: 'assistant' })],
  ['chat', choice(null)],
  ['chat', { choices: [{}] }],
  ['chat', { choices: [{ index: 0, message: { role: 'assistant', content: '' } }] }],
  ['chat', { choices: [{ index: 0, message: { role: 'assistant', content: null }, finish_reason: null }] }],
  ['chat', createMessage({ content: [{ type: 'text', text: '' }] })],
  ['messages', message([])],
  ['messages', message([{ type: 'text', text: '', citations: null }])],
  ['messages', message([{ type: 'text', text: '' }], null)],
  ['gemini', candidate({})],
  ['gemini', candidate({ content: { role: 'model' } })],
  ['gemini', parts()],
  ['gemini', parts({ text: '' })],
  ['responses', response([])],
  ['responses', response([item()])],
  ['responses', response([item(text(''))])],
]

const answered: readonly (readonly [Name, object])[] = [
  ['chat', createMessage({ tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }] })],
  ['chat', createMessage({ refusal: 'No.' })],
  ['chat', createMessage({ reasoning_content: 'Hm.' })],
  ['chat', createMessage({ audio: { id: 'a1' } })],
  ['chat', createMessage({ images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }] })],
  ['chat', createMessage({ content: ' ' })],
  ['chat', choice({ role: 'assistant', content: '' }, 'length')],
  ['chat', choice({ role: 'assistant', content: '' }, 'content_filter')],
  ['chat', choice({ role: 'assistant', content: null }, 'tool_calls')],
  ['messages', message([], 'max_tokens')],
  ['messages', message([], 'refusal')],
  ['messages', message([], 'pause_turn')],
  ['messages', message([], 'stop_sequence')],
  ['messages', message([{ type: 'thinking', thinking: '', signature: 's' }])],
  ['messages', message([{ type: 'tool_use', id: 't1', name: 'f', input: {} }], 'tool_use')],
  ['gemini', candidate({ finishReason: 'MAX_TOKENS' })],
  ['gemini', candidate({ finishReason: 'SAFETY' })],
  ['gemini', parts({ functionCall: { name: 'f' } })],
  ['gemini', parts({ text: '', thoughtSignature: 's' })],
  ['gemini', { promptFeedback: { blockReason: 'SAFETY' } }],
  ['responses', response([], 'incomplete')],
  ['responses', response([{ type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' }])],
  ['responses', response([{ type: 'reasoning', id: 'rs1', summary: [] }])],
  ['responses', response([item({ type: 'refusal', refusal: 'No.' })])],
]

const blankStreams: readonly (readonly [Name, string[]])[] = [
  ['chat', [chatChunk({ role: 'assistant', content: '' }), chatChunk({}, 'stop'), DONE]],
  ['chat', [chatChunk({ role: 'assistant', content: '' }, 'stop')]],
  ['chat', [chatChunk({}, 'stop'), data({ choices: [], usage: { prompt_tokens: 1 } }), DONE]],
  [
    'messages',
    [
      event({ type: 'message_start', message: { role: 'assistant', content: [] } }),
      event({ type: 'message_delta', delta: { stop_reason: 'end_turn' } }),
      event({ type: 'message_stop' }),
    ],
  ],
  [
    'messages',
    [
      event({ type: 'message_start', message: { role: 'assistant', content: [] } }),
      event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
      event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: '' } }),
      event({ type: 'content_block_stop', index: 0 }),
      event({ type: 'message_delta', delta: { stop_reason: 'end_turn' } }),
      event({ type: 'message_stop' }),
    ],
  ],
  ['gemini', [data(candidate({}))]],
  ['gemini', [data({ candidates: [{ content: { parts: [{ text: '' }] } }] }), data(candidate({}))]],
  [
    'responses',
    [
      event({ type: 'response.created', response: response([], 'in_progress') }),
      event({ type: 'response.completed', response: response([]) }),
    ],
  ],
  [
    'responses',
    [
      event({ type: 'response.output_item.added', item: item() }),
      event({ type: 'response.content_part.added', part: text('') }),
      event({ type: 'response.output_text.delta', delta: '' }),
      event({ type: 'response.output_text.done', text: '' }),
      event({ type: 'response.content_part.done', part: text('') }),
      event({ type: 'response.output_item.done', item: item(text('')) }),
      event({ type: 'response.completed', response: response([item(text(''))]) }),
    ],
  ],
]

const answeredStreams: readonly (readonly [Name, string[]])[] = [
  ['chat', [chatChunk({ role: 'assistant', content: '' }), chatChunk({}, 'length'), DONE]],
  ['chat', [chatChunk({}, 'content_filter'), DONE]],
  ['chat', [chatChunk({ content: 'a' }, 'stop')]],
  [
    'chat',
    [
      data({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
      data({ choices: [{ index: 1, delta: { content: 'a' } }] }),
      DONE,
    ],
  ],
  [
    'messages',
    [event({ type: 'message_delta', delta: { stop_reason: 'max_tokens' } }), event({ type: 'message_stop' })],
  ],
  [
    'messages', // tool calls made by code that runs at Anthropic
    [
      event({
        type: 'message_start',
        message: message([{ type: 'tool_use', id: 't1', name: 'f', input: {} }], 'tool_use'),
      }),
      event({ type: 'message_stop' }),
    ],
  ],
  ['gemini', [data(candidate({ finishReason: 'MAX_TOKENS' }))]],
  ['responses', [event({ type: 'response.completed', response: response([item(text('a'))]) })]],
  ['responses', [event({ type: 'response.incomplete', response: response([], 'incomplete') })]],
]

for (const [name, body] of blank)
  test(`an empty response falls back to the next target, and reaches the client if all are empty: ${name}, ${JSON.stringify(body)}`, async () => {
    for (const stream of [false, true]) {
      const { status, text, attempts } = await send(name, () => json(body), stream)
      assert.equal(
        attempts.map(({ outcome }) => outcome),
        ['content', 'content'],
      )
      assert.is(status, 200)
      if (stream) assert.match(text, /^(event|data): /)
      else assert.is(text, JSON.stringify(body))
    }
  })

for (const [name, body] of answered)
  test(`a response with any content or an explanatory finish reason isn't empty: ${name}, ${JSON.stringify(body)}`, async () => {
    const { status, attempts } = await send(name, () => json(body), false)
    assert.equal([status, attempts.length, attempts[0]?.outcome], [200, 1, 'answered'])
  })

for (const [name, events] of blankStreams)
  test(`an empty stream falls back to the next target, and reaches the client if all are empty: ${name}, ${events.join('')}`, async () => {
    for (const chunks of [events, [events.join('')]]) {
      const { status, attempts, text } = await send(name, () => sse(chunks), true)
      assert.equal(
        attempts.map(({ outcome }) => outcome),
        ['content', 'content'],
      )
      assert.is(status, 200)
      assert.is(text, events.join(''))
    }
  })

for (const [name, events] of answeredStreams)
  test(`a stream with any content or an explanatory finish reason isn't empty: ${name}, ${events.join('')}`, async () => {
    const { status, attempts, text } = await send(name, () => sse(events), true)
    assert.equal([status, attempts.length, attempts[0]?.outcome], [200, 1, 'answered'])
    assert.is(text, events.join(''))
  })

test('an empty response to a legacy completion request is valid', async () => {
  const full = { choices: [{ index: 0, text: '', finish_reason: 'stop' }] }
  for (const stream of [false, true]) {
    const world = await openWorld({ fetch: fakeUpstream(() => (stream ? sse([data(full), DONE]) : json(full))) })
    assert.is((await world.post('/v1/completions', { model: 'one/m', prompt: 'Hi', stream })).status, 200)
  }
})
