import { assert, suite } from '../support/suite.ts'
import { brokenBody } from './support/broken.ts'
import { askRaw, cutAt, rawUpstream } from './support/raw.ts'
import { chatEvents, type ErrorAnswer, messageEvents } from './support/responses.ts'
import { catalog, openWorld } from './support/world.ts'

const test = suite('bare JSON errors in a stream')

const kept = { baseUrl: 'http://kept.test/v1', format: 'openai-responses', models: [{ id: 'r' }] } as const

const data = (value: object) => `data: ${JSON.stringify(value)}\n\n`
const event = (value: { type: string; [name: string]: unknown }) => `event: ${value.type}\n${data(value)}`
const MESSAGE = 'Slow down, "please".'
const asText = JSON.stringify(MESSAGE).slice(1, -1)

/** By format: the request, events without and with content, the end event, the provider's error, and the client's error. */
const formats = {
  chat: {
    path: '/v1/chat/completions',
    body: { model: 'one/m', messages: [], stream: true },
    opening: chatEvents()[0] ?? '',
    content: chatEvents()[1] ?? '',
    end: 'data: [DONE]\n\n',
    error: { error: { message: MESSAGE, code: 429 } },
  },
  completions: {
    path: '/v1/completions',
    body: { model: 'one/m', prompt: 'Hi', stream: true },
    opening: data({ choices: [{ index: 0, text: '', finish_reason: null }] }),
    content: data({ choices: [{ index: 0, text: 'Hi', finish_reason: null }] }),
    end: 'data: [DONE]\n\n',
    error: { error: { message: MESSAGE, code: 429 } },
  },
  messages: {
    path: '/v1/messages',
    body: { model: 'claude/c', max_tokens: 9, messages: [], stream: true },
    opening: messageEvents().slice(0, 3).join(''),
    content: messageEvents()[3] ?? '',
    end: messageEvents().slice(-3).join(''),
    error: { type: 'error', error: { type: 'rate_limit_error', message: MESSAGE } },
  },
  foreign: {
    path: '/v1/messages',
    body: { model: 'claude/c', max_tokens: 9, messages: [], stream: true },
    opening: messageEvents().slice(0, 3).join(''),
    content: messageEvents()[3] ?? '',
    end: messageEvents().slice(-3).join(''),
    error: { error: { message: MESSAGE, code: 429 } },
  },
  responses: {
    path: '/v1/responses',
    body: { model: 'kept/r', input: 'Hi', stream: true },
    opening: event({ type: 'response.created', response: { id: 'r1', status: 'in_progress', error: null } }),
    content: event({ type: 'response.output_text.delta', delta: 'Hi' }),
    end: event({ type: 'response.completed', response: { id: 'r1', status: 'completed', error: null } }),
    error: { error: { message: MESSAGE, code: 'rate_limit_exceeded' } },
  },
  gemini: {
    path: '/v1beta/models/google/g:streamGenerateContent',
    body: { contents: [] },
    opening: data({ usageMetadata: { promptTokenCount: 1 } }),
    content: data({ candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] } }] }),
    end: data({ candidates: [{ content: { role: 'model', parts: [] }, finishReason: 'STOP' }] }),
    error: { error: { code: 429, message: MESSAGE, status: 'RESOURCE_EXHAUSTED' } },
  },
} as const

const recorded = {
  chat: /data: (\{"error":\{[^\n]+)\n\n$/,
  completions: /data: (\{"error":\{[^\n]+)\n\n$/,
  messages: /event: error\ndata: (\{"type":"error"[^\n]+)\n\n$/,
  foreign: /event: error\ndata: (\{"type":"error"[^\n]+)\n\n$/,
  responses: /event: error\ndata: (\{[^\n]+)\n\nevent: response\.failed\ndata: [^\n]+\n\n$/,
  gemini: /,\r\n(\{"error":\{[^\n]+)\]$/,
} as const

type Name = keyof typeof formats
const names: readonly Name[] = ['chat', 'completions', 'messages', 'foreign', 'responses', 'gemini']
const translatable = names.filter((name) => name !== 'completions')

async function send(name: Name, chunks: readonly (string | Uint8Array)[], options: Options = {}) {
  const {
    how = 'end',
    contentType = 'text/event-stream',
    path = formats[name].path,
    body = formats[name].body,
  } = options
  const bytes = chunks.map((chunk) => (typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk))
  const upstream = brokenBody(bytes, how)
  const world = await openWorld({
    fetch: rawUpstream(() => upstream, { contentType }),
    catalog: { ...catalog, kept },
    connections: ['one', 'claude', 'google', 'kept'],
  })
  const { reply, text } = await askRaw(world.gateway, path, body)
  assert.is(upstream.isOpen, false)
  return { text, reply, recorded: world.recorded }
}

interface Options {
  how?: 'end' | 'stall' | 'reset'
  contentType?: string
  path?: string
  body?: object
}

for (const name of names) {
  const { opening, content, end, error, body } = formats[name]
  const bare = JSON.stringify(error)
  const model = 'model' in body ? body.model : 'google/g'

  test(`a bare JSON error before the first content fails the attempt (${name})`, async () => {
    for (const [contentType, sent] of [
      ['text/event-stream', bare],
      ['text/event-stream', `${JSON.stringify(error, null, 2)}\n\n`],
      ['text/event-stream', `: wait\n\n: wait\r\n\r\n${bare}\n`],
      ['application/json', bare],
      ['application/json', `: wait\n\n${bare}`],
      ['text/event-stream', opening + bare],
      ['text/event-stream', `${opening}: wait\n\n${JSON.stringify(error, null, 2)}\n\n`],
    ] as const) {
      const { reply, text, recorded: records } = await send(name, [sent], { contentType })
      const headers = [reply.status, reply.headers['x-signalbox-attempts']]
      assert.equal(headers, [429, `${model}=429:rate-limit`], sent)
      assert.is((JSON.parse(text) as ErrorAnswer).error.message, MESSAGE)
      assert.is(records.attempts[0]?.outcome, 'rate-limit')
    }
  })

  test(`a bare JSON error after the first content reaches clients in their format, without a normal end (${name})`, async () => {
    const begin = opening + content
    const pretty = JSON.stringify(error, null, 2)
    for (const [chunks, mode] of [
      [[begin, bare], 'end'],
      [[begin + bare], 'end'],
      [[begin, `${bare}\n\n`], 'end'],
      [[begin, `${bare}\n\n`, end], 'end'],
      [[`${begin}${pretty}\r\n\r\n${end}`], 'end'],
      [[begin, pretty], 'end'],
      [[begin, `${bare}\n${end}`], 'end'],
      [[begin, `${bare}\n${end.trimEnd()}`], 'end'],
      [[...cutAt(new TextEncoder().encode(`${begin}: wait\n\n${pretty}\n`), Array(600).keys())], 'end'],
      [[begin, bare], 'reset'],
    ] as const) {
      const { text, recorded: records } = await send(name, chunks, { how: mode })
      const [, output = '{}'] = recorded[name].exec(text) ?? []
      assert.match((JSON.parse(output) as ErrorAnswer).error?.message ?? text, MESSAGE)
      assert.not.match(text, /\[DONE\]|message_stop|response\.completed|STOP|before the response was complete/)
      assert.is(text.split(asText).length - 1, name === 'responses' ? 3 : 1, text)
      assert.equal([records.requests.length, records.requests[0]?.status], [1, 429])
    }
  })
}

for (const name of translatable)
  test(`a bare JSON error in a stream has the same effect for clients of other formats (${name})`, async () => {
    const { opening, content, error, body } = formats[name]
    const model = 'model' in body ? body.model : 'google/g'
    const other =
      name === 'chat'
        ? {
            path: '/v1/messages',
            body: { model, max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }], stream: true },
          }
        : { path: '/v1/chat/completions', body: { model, messages: [{ role: 'user', content: 'Hi' }], stream: true } }
    const { reply, text } = await send(name, [opening, JSON.stringify(error)], other)
    assert.is(reply.status, 429)
    assert.is((JSON.parse(text) as ErrorAnswer).error.message, MESSAGE)
    const late = await send(name, [opening, content, JSON.stringify(error)], other)
    assert.match(late.text, asText)
    assert.is(late.recorded.requests[0]?.status, 429)
  })

test("a bare JSON error exposes no credential, and JSON without an error isn't an error", async () => {
  const { opening, content, end } = formats.chat
  const spelled = JSON.stringify({ error: { message: 'no secret-of-one' } }).replace('secret', '\\u0073ecret')
  const { text } = await send('chat', [opening, content, spelled])
  assert.match(text, /no \[credential\]/)
  const odd = [opening, content, '{"note":1}\n\n', '{"error":null}\n\n', chatEvents().at(-3) ?? '', end]
  const good = await send('chat', odd)
  assert.is(good.text, odd.join(''))
  assert.is(good.recorded.requests[0]?.status, 200)
  const cut = await send('chat', [opening, content, '{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}'])
  assert.match(cut.text, 'before the response was complete')
})
