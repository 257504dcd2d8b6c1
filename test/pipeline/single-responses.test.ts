import { wireFormats } from '../../src/types/unions.ts'
import { clients } from '../formats/support/clients.ts'
import { assert, suite } from '../support/suite.ts'
import { chatResponse, messageResponse } from './support/responses.ts'
import { questions } from './support/sample-requests.ts'
import { looked, wholeLooking } from './support/sample-streams.ts'
import { typed } from './support/unrequested-streams.ts'
import { fakeUpstream, json } from './support/upstream.ts'
import { catalog, openWorld } from './support/world.ts'

const test = suite('non-streaming responses to streaming requests')

const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"at":1}' } }
const calling = {
  ...chatResponse('Let me see.'),
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'Let me see.', tool_calls: [call] },
      finish_reason: 'tool_calls',
    },
  ],
}

const open = (response: object) => openWorld({ fetch: fakeUpstream(() => json(response)) })

const messages = [{ role: 'user', content: 'Hi' }]

test('a non-streaming response to a streaming request is converted to text, call, and end events', async () => {
  const world = await open(calling)
  const response = await world.chat({ messages, stream: true, stream_options: { include_usage: true } })
  assert.is(response.status, 200)
  assert.is(response.headers.get('content-type'), 'text/event-stream; charset=utf-8')
  assert.is(response.headers.get('x-signalbox-target'), 'one/m')
  const events = (await response.text()).trimEnd().split('\n\n')
  assert.is(events.pop(), 'data: [DONE]')
  const chunks = events.map((event) => JSON.parse(event.slice('data: '.length)))
  for (const { object } of chunks) assert.is(object, 'chat.completion.chunk')
  const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }: { delta: object }) => delta))
  assert.is(deltas.map(({ content = '' }) => content).join(''), 'Let me see.')
  const calls = deltas.flatMap(({ tool_calls: recorded = [] }) => recorded)
  assert.equal([calls[0].id, calls[0].function.name], ['call_1', 'look'])
  assert.is(calls.map((part: typeof call) => part.function.arguments ?? '').join(''), '{"at":1}')
  assert.is(chunks.find(({ choices }) => choices[0]?.finish_reason)?.choices[0].finish_reason, 'tool_calls')
  assert.is(chunks.at(-1).usage.prompt_tokens, 7)
  assert.is(world.recorded.usages[0]?.inputTokens, 7)
  assert.is(world.recorded.requests[0]?.status, 200)
})

test('a single response instead of a stream is readable by Chat Completions and Messages clients', async () => {
  const world = await openWorld({
    fetch: fakeUpstream(({ provider }) =>
      json(provider === 'claude' ? messageResponse('Hello') : chatResponse('Hello')),
    ),
  })
  for (const model of ['claude/c', 'one/m']) {
    const text = await (await world.messages({ model, messages, stream: true })).text()
    assert.match(text, /^event: message_start\n/)
    assert.match(text, /"text_delta","text":"Hello"/)
    assert.match(text, /event: message_stop\ndata: [^\n]*\n\n$/)
    const chat = await (await world.chat({ model, messages, stream: true })).text()
    assert.match(chat, /"content":"Hello"/)
    assert.match(chat, /data: \[DONE\]\n\n$/)
  }
})

const kept = { baseUrl: 'http://kept.test/v1', format: 'openai-responses', models: [{ id: 'r' }] } as const
const models = {
  'openai-chat': 'one/m',
  'openai-responses': 'kept/r',
  'anthropic-messages': 'claude/c',
  gemini: 'google/g',
} as const

for (const from of wireFormats)
  for (const to of wireFormats)
    test(`a single response instead of a stream is readable (${from} provider, ${to} client)`, async () => {
      for (const type of ['application/json', 'text/event-stream']) {
        const fetch = fakeUpstream(() => typed(type, [JSON.stringify(wholeLooking[from], null, 1)]))
        const connections = ['one', 'claude', 'google', 'kept']
        const world = await openWorld({ fetch, catalog: { ...catalog, kept }, connections })
        assert.equal(await clients[to](await world.post(...questions[to](models[from], true))), looked, type)
      }
    })

test("a Google client that requests an array can read a response that the provider didn't stream", async () => {
  const world = await open(chatResponse('Hello'))
  const body = { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }
  const response = await world.post('/v1beta/models/one/m:streamGenerateContent', body)
  assert.is(response.headers.get('content-type'), 'application/json')
  const chunks = await response.json()
  assert.is(chunks[0].candidates[0].content.parts[0].text, 'Hello')
})

const odd = JSON.stringify(
  {
    candidates: [
      { content: { role: 'model', parts: [{ text: 'A\u2028B', novel: 1 }] }, finishReason: 'STOP', novel: 2 },
    ],
    usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, novel: 12345678901234567000 },
    novel: { a: [true] },
  },
  null,
  2,
)

for (const body of [odd, `[${odd}\n]\n`])
  test(`a single response instead of a stream reaches a Google client unchanged, ${body === odd ? 'bare' : 'in an array'}`, async () => {
    const world = await openWorld({
      fetch: fakeUpstream(() => typed('application/json', [body])),
      connections: ['google'],
    })
    const request = { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }
    const path = '/v1beta/models/google/g:streamGenerateContent'
    const events = await world.post(`${path}?alt=sse`, request)
    assert.match(events.headers.get('content-type') ?? '', /^text\/event-stream/)
    const responseBody = await events.text()
    assert.match(responseBody, /^data: [^\r\n\u2028]*\r?\n\r?\n$/)
    assert.equal(JSON.parse(responseBody.slice('data: '.length)), JSON.parse(odd))
    const array = await world.post(path, request)
    assert.is(array.headers.get('content-type'), 'application/json')
    const text = (await array.text()).replace('\\u2028', '\u2028')
    assert.is(text.replace(/[ \r\n]+/g, ''), `[${odd}]`.replace(/[ \r\n]+/g, ''))
    assert.equal(
      world.recorded.usages.map(({ inputTokens }) => inputTokens),
      [3, 3],
    )
  })

test('a single response instead of a legacy completions stream is converted to events', async () => {
  const reply = { id: 'c1', object: 'text_completion', choices: [{ index: 0, text: 'Hello', finish_reason: 'stop' }] }
  const world = await open(reply)
  const response = await world.post('/v1/completions', { model: 'one/m', prompt: 'Hi', stream: true })
  assert.is(await response.text(), `data: ${JSON.stringify(reply)}\n\ndata: [DONE]\n\n`)
})

test('a single response to an invalid streaming request is replaced by a 400 from the gateway', async () => {
  const world = await open(chatResponse())
  const response = await world.chat({ messages: 'Hi', stream: true })
  assert.is(response.status, 400)
  assert.match(await response.text(), /messages/)
  assert.is(response.headers.get('x-signalbox-attempts'), 'one/m=400:client')
})

test('an unreadable single response instead of a stream fails the attempt', async () => {
  const fetch = fakeUpstream((_, index) => json(index === 1 ? { choices: ['?'] } : chatResponse('the spare')))
  const world = await openWorld({ fetch, combos: { chain: ['one/m', 'two/m'] } })
  const response = await world.chat({ model: 'chain', messages, stream: true })
  assert.is(response.headers.get('x-signalbox-attempts'), 'one/m=200:content;via=chain:fallback, two/m=200')
  assert.match(await response.text(), /the spare/)
})
