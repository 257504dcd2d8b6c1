import OpenAI from 'openai'
import { assert, suite } from '../support/suite.ts'
import { brokenBody } from './support/broken.ts'
import { askRaw, rawUpstream } from './support/raw.ts'
import { chatChunk, chatEvents, messageEvents } from './support/responses.ts'
import { fakeUpstream, sse } from './support/upstream.ts'
import { catalog, openWorld } from './support/world.ts'

const test = suite('provider errors mid-stream')

const kept = { baseUrl: 'http://kept.test/v1', format: 'openai-responses', models: [{ id: 'r' }] } as const

/** Each format's first and last events, and a request's path and body. */
const formats = {
  chat: {
    path: '/v1/chat/completions',
    body: { model: 'one/m', stream: true },
    begin: chatEvents().slice(0, 3).join(''),
    end: 'data: [DONE]\n\n',
    recorded: /data: \{"error":\{"message":"[^\n]+\n\n$/,
  },
  messages: {
    path: '/v1/messages',
    body: { model: 'claude/c', max_tokens: 9, stream: true },
    begin: messageEvents().slice(0, 5).join(''),
    end: messageEvents().slice(-3).join(''),
    recorded: /event: error\ndata: \{"type":"error","error":\{"type":"[^\n]+\n\n$/,
  },
  responses: {
    path: '/v1/responses',
    body: { model: 'kept/r', input: 'Hi', stream: true },
    begin: [
      event({ type: 'response.created', response: { id: 'r1', status: 'in_progress', error: null, output: [] } }),
      event({ type: 'response.output_text.delta', delta: 'Hi' }),
    ].join(''),
    end: `${event({ type: 'response.completed', response: { id: 'r1', status: 'completed', error: null, output: [] } })}data: [DONE]\n\n`,
    recorded: /event: response\.failed\ndata: [^\n]+\n\n$/,
  },
  gemini: {
    path: '/v1beta/models/google/g:streamGenerateContent',
    body: { contents: [] },
    begin: data({ candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] } }] }),
    end: data({ candidates: [{ content: { role: 'model', parts: [] }, finishReason: 'STOP' }] }),
    recorded: /\{"error":\{"code":\d+,"message":"[^\n]+$/,
  },
} as const

type Name = keyof typeof formats

function event(fields: { type: string; [name: string]: unknown }): string {
  return `event: ${fields.type}\n${data(fields)}`
}

function data(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`
}

const finishedWith = (fields: object) => data({ choices: [{ index: 0, delta: {}, finish_reason: 'error', ...fields }] })
const error = { code: 'rate_limit_exceeded', message: 'Slow down' }

/** Events between the first text and the end, and whether clients of the format recognize an error in them. */
const errors: readonly (readonly [Name, sent: string, isKnown: boolean, status: number])[] = [
  ['chat', data({ error: { message: 'Overloaded', code: 503 } }), true, 503],
  ['chat', data({ error: 'Overloaded' }), false, 502],
  ['chat', data({ error: { message: 'x', code: 502 }, choices: [{ delta: {}, finish_reason: 'error' }] }), true, 502],
  ['chat', finishedWith({}), false, 502],
  ['chat', finishedWith({ error: { code: 429, message: 'Slow "down"' } }), false, 429],
  ['chat', data({ choices: [{ index: 0, delta: { content: '' }, error: { message: 'x' } }] }), false, 502],
  ['chat', 'event: error\ndata: {"message":"Over"}\n\n', false, 502],
  ['chat', 'event:error\ndata: Over\n\n', false, 502],
  ['chat', data({ object: 'error', message: 'Out of memory', code: 500 }), false, 500],
  ['messages', event({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }), true, 529],
  ['messages', data({ type: 'error', error: { type: 'rate_limit_error', message: 'Slow' } }), false, 429],
  ['responses', event({ type: 'response.failed', response: { id: 'r1', status: 'failed', error } }), true, 429],
  ['responses', event({ type: 'error', ...error }), false, 429],
  [
    'responses',
    event({ type: 'error', error }) + event({ type: 'response.failed', response: { status: 'failed', error } }),
    true,
    429,
  ],
  ['gemini', data({ error: { code: 503, message: 'Overloaded', status: 'UNAVAILABLE' } }), true, 503],
  ['gemini', data({ error: { message: 'Overloaded' } }), false, 502],
]

async function send(name: Name, chunks: readonly string[], mode: 'end' | 'stall' | 'reset' = 'end') {
  const { path, body } = formats[name]
  const encoder = new TextEncoder()
  const upstream = brokenBody(
    chunks.map((chunk) => encoder.encode(chunk)),
    mode,
  )
  const world = await openWorld({
    fetch: rawUpstream(() => upstream),
    catalog: { ...catalog, kept },
    connections: ['one', 'claude', 'google', 'kept'],
  })
  const { text } = await askRaw(world.gateway, path, body)
  return { text, upstream, recorded: world.recorded }
}

for (const [name, sent, isKnown, status] of errors) {
  test(`a mid-stream error ends the stream without a normal end: ${name}, ${sent.trim()}`, async () => {
    const { begin, end, recorded } = formats[name]
    const isArray = name === 'gemini'
    for (const [mode, ...chunks] of [
      ['end', begin, sent, end],
      ['end', begin + sent + end],
      ['end', begin, sent + end],
      ['reset', begin, sent],
      ['stall', begin, sent],
    ] as const) {
      const { text, upstream, recorded: records } = await send(name, chunks, mode)
      if (!isArray) {
        assert.ok(text.startsWith(begin + sent), text)
        if (isKnown) assert.is(text, begin + sent)
      }
      assert.match(isArray ? text.slice(0, -1) : text, recorded)
      assert.not.match(text, /\[DONE\]|message_stop|response\.completed|STOP/)
      assert.is(records.requests[0]?.status, status)
      assert.is(records.requests.length, 1)
      assert.is(upstream.isOpen, false)
    }
  })
}

test('a mid-stream error counts even if its event lacks the blank line', async () => {
  const { begin, recorded } = formats.chat
  const { text } = await send('chat', [begin, finishedWith({}).trimEnd()])
  assert.ok(text.startsWith(begin + finishedWith({})), text)
  assert.match(text, recorded)
})

test("a response with text about errors doesn't count as a mid-stream error", async () => {
  const quoting = [
    chatChunk({ content: 'data: {"error":{"message":"x"}}\n\nevent: error\n' }),
    data({ error: null, choices: [{ index: 0, delta: { content: 'x' }, finish_reason: null }] }),
    data({ choices: [{ delta: { content: 'error' }, logprobs: { content: [{ token: 'error', logprob: 0 }] } }] }),
    data({ choices: [{ delta: { tool_calls: [{ index: 0, function: { arguments: '{"error":1}' } }] } }] }),
  ]
  const sent = [...chatEvents().slice(0, 3), ...quoting, ...chatEvents().slice(-3)]
  const { text, recorded } = await send('chat', sent)
  assert.is(text, sent.join(''))
  assert.is(recorded.requests[0]?.status, 200)
  const { begin, end } = formats.responses
  const full = await send('responses', [begin, end])
  assert.is(full.text, begin + end)
})

test("a mid-stream error doesn't expose the credential, even with JSON escapes", async () => {
  const { begin } = formats.chat
  const spelled = finishedWith({ error: { message: 'no secret-of-one' } }).replace('secret', '\\u0073ecret')
  const { text } = await send('chat', [begin, spelled])
  assert.not.match(text, /secret-of-one/)
  assert.match(text, /no \[credential\]/)
})

/** Errors as a Responses provider reports them mid-stream. */
const errorEvents: Readonly<Record<string, string>> = {
  flat: event({ type: 'error', ...error, param: null, sequence_number: 2 }),
  nested: event({ type: 'error', error: { type: 'rate_limit_error', ...error, param: null }, sequence_number: 2 }),
}

const getTypes = (text: string) => [...text.matchAll(/^event: (.*)$/gm)].map(([, type]) => type).slice(2)

for (const [mode, sent] of Object.entries(errorEvents)) {
  test(`a ${mode} error event from a Responses provider is passed through once, before a single response.failed`, async () => {
    const { begin, end } = formats.responses
    for (const chunks of [
      [begin, sent, end],
      [begin + sent + end],
      [begin, sent + sent, end],
      [begin, sent + event({ type: 'response.failed', response: { status: 'failed', error } }) + sent],
    ]) {
      const { text } = await send('responses', chunks)
      assert.equal(getTypes(text), ['error', 'response.failed'], text)
      assert.ok(text.startsWith(begin + sent), text)
      const numbers = [...text.matchAll(/"sequence_number":(\d+)/g)].map(([, number]) => Number(number))
      assert.is(new Set(numbers).size, numbers.length, text)
    }
  })

  test(`the official Responses client gets its provider's ${mode} error event once`, async () => {
    const { begin, end } = formats.responses
    const { text } = await send('responses', [begin, sent, end])
    const client = new OpenAI({ apiKey: 'k', maxRetries: 0, fetch: async () => sse(text) })
    const met: string[] = []
    const stream = await client.responses.create({ model: 'm', input: 'Hi', stream: true })
    try {
      for await (const { type } of stream) met.push(type)
    } catch (error) {
      assert.match(String(error), 'Slow down')
      met.push('error')
    }
    assert.is(met.filter((type) => type === 'error').length, 1, met.join())
  })
}

test('a Responses client gets one error and one response.failed from a translated provider', async () => {
  const { begin, end } = formats.chat
  const upstream = brokenBody(
    [begin, data({ error: { message: 'Overloaded', code: 503 } }), end].map((chunk) => new TextEncoder().encode(chunk)),
    'end',
  )
  const world = await openWorld({ fetch: rawUpstream(() => upstream), connections: ['one'] })
  const { text } = await askRaw(world.gateway, '/v1/responses', { model: 'one/m', input: 'Hi', stream: true })
  assert.equal(getTypes(text).slice(-2), ['error', 'response.failed'])
  assert.is(getTypes(text).filter((type) => type === 'error').length, 1)
})

for (const [mode, sent] of Object.entries({
  ...errorEvents,
  'response.failed': event({ type: 'response.failed', response: { status: 'failed', error } }),
}))
  test(`a ${mode} error at the start of a Responses stream becomes a JSON error with its type`, async () => {
    const world = await openWorld({
      fetch: fakeUpstream(() => sse(sent)),
      catalog: { ...catalog, kept },
      connections: ['kept'],
    })
    const response = await world.post('/v1/responses', { ...formats.responses.body })
    assert.is(response.status, 429)
    const output = (await response.json()).error
    assert.is(output.type, 'rate_limit_error')
    assert.is(output.code, 'rate_limit_exceeded')
    assert.match(output.message, /^Slow down/)
    assert.is(output.param, null)
    assert.is(output.sequence_number, undefined)
  })
