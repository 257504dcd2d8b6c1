import { wireFormats } from '../../src/types/unions.ts'
import type { WireFormat } from '../../src/types.ts'
import { eventFrame, exceptionFrame } from '../formats/support/event-stream.ts'
import { assert, suite } from '../support/suite.ts'
import { catalog } from './support/quoted-keys.ts'
import { chatEvents, chatResponse, messageEvents, messageResponse } from './support/responses.ts'
import { fakeUpstream, getBody, json, sse } from './support/upstream.ts'
import { openWorld } from './support/world.ts'

const test = suite("the keys of a gateway's other connections")

const AWS_SECRET = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'
const OTHERS = ['the+key-of/another=account', 'pass"word\\of/a-proxy', AWS_SECRET]

const connections = [
  ...['chat', 'responses', 'claude', 'google'].map((provider) => ({
    provider,
    apiKey: `the-credential-of-${provider}`,
  })),
  { provider: 'bedrock', apiKey: 'a-bedrock-api-key-0123', providerSpecificData: { region: 'us-east-1' } },
  { provider: 'spare', apiKey: OTHERS[0] ?? '' },
  { provider: 'spare', apiKey: OTHERS[1] ?? '', name: 'second' },
  {
    provider: 'bedrock',
    name: 'by access keys',
    apiKey: `AKIAIOSFODNN7EXAMPLE:${AWS_SECRET}`,
    providerSpecificData: { region: 'us-east-1' },
  },
]

const data = (value: object, event?: string) => `${event ? `event: ${event}\n` : ''}data: ${JSON.stringify(value)}\n\n`

const responseEvents = () => {
  const response = { id: 'r1', object: 'response', status: 'in_progress', model: 'm', output: [] }
  return [
    data({ type: 'response.created', sequence_number: 0, response }, 'response.created'),
    data(
      {
        type: 'response.output_item.added',
        sequence_number: 1,
        output_index: 0,
        item: { type: 'message', id: 'i1', role: 'assistant', status: 'in_progress', content: [] },
      },
      'response.output_item.added',
    ),
    data(
      {
        type: 'response.content_part.added',
        sequence_number: 2,
        item_id: 'i1',
        output_index: 0,
        content_index: 0,
        part: { type: 'output_text', text: '', annotations: [] },
      },
      'response.content_part.added',
    ),
    data(
      {
        type: 'response.output_text.delta',
        sequence_number: 3,
        item_id: 'i1',
        output_index: 0,
        content_index: 0,
        delta: 'Hello ',
      },
      'response.output_text.delta',
    ),
  ]
}

/** The events that each provider sends before an error, and the error itself. */
const streams: Record<
  string,
  { start: () => (string | Uint8Array)[]; error: (message: string) => string | Uint8Array }
> = {
  chat: {
    start: () => chatEvents().slice(0, 2),
    error: (message) => data({ error: { message, type: 'server_error', code: 'overloaded' } }),
  },
  responses: {
    start: responseEvents,
    error: (message) =>
      data({ type: 'error', sequence_number: 4, code: 'server_error', message, param: null }, 'error'),
  },
  claude: {
    start: () => messageEvents().slice(0, 4),
    error: (message) => data({ type: 'error', error: { type: 'api_error', message } }, 'error'),
  },
  google: {
    start: () => [data({ candidates: [{ content: { role: 'model', parts: [{ text: 'Hello ' }] }, index: 0 }] })],
    error: (message) => data({ error: { code: 500, message, status: 'INTERNAL' } }),
  },
  bedrock: {
    start: () => [
      eventFrame('messageStart', { role: 'assistant' }),
      eventFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Hello ' } }),
    ],
    error: (message) => exceptionFrame('internalServerException', message),
  },
}

const hi = [{ role: 'user', content: 'Hi' }]
const questions: Record<WireFormat, (model: string, stream: boolean) => [path: string, body: object]> = {
  'openai-chat': (model, stream) => ['/v1/chat/completions', { model, stream, messages: hi }],
  'openai-responses': (model, stream) => ['/v1/responses', { model, stream, input: 'Hi' }],
  'anthropic-messages': (model, stream) => ['/v1/messages', { model, stream, max_tokens: 9, messages: hi }],
  gemini: (model, stream) => [
    `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
  ],
}

/** Checks that the secret doesn't appear, not even with JSON escapes. */
function assertHidden(text: string, secret: string) {
  const spelled = [secret, JSON.stringify(secret).slice(1, -1)]
  for (const shown of [text, text.replaceAll('\\/', '/')])
    for (const value of spelled) assert.not.ok(shown.includes(value), `${value} in ${shown}`)
}

for (const [provider, { start, error }] of Object.entries(streams)) {
  for (const format of wireFormats) {
    test(`a mid-stream error doesn't expose other connections' keys (${provider} provider, ${format} client)`, async () => {
      for (const secret of OTHERS) {
        const frames: (string | Uint8Array)[] = [error(`Bad key: ${secret}, sorry`)]
        if (typeof frames[0] === 'string') frames.push(frames[0].replaceAll('/', '\\/'), frames[0].trimEnd())
        for (const frame of frames) {
          const type = provider === 'bedrock' ? 'application/vnd.amazon.eventstream' : 'text/event-stream'
          const respond = () => new Response(getBody([...start(), frame]), { headers: { 'content-type': type } })
          const world = await openWorld({ fetch: fakeUpstream(respond), catalog, connections })
          const [path, body] = questions[format](`${provider}/m`, true)
          for (const pending of format === 'gemini' ? [path, path.replace('?alt=sse', '')] : [path]) {
            const response = await world.post(pending, body)
            const text = await response.text()
            assert.is(response.status, 200)
            assert.match(text, /Hello /)
            assertHidden(text + JSON.stringify(world.recorded), secret)
            assert.match(text, /Bad key: \[credential\], sorry/)
          }
        }
      }
    })
  }
}

for (const [provider, error] of Object.entries({
  chat: (code: string) => data({ error: { message: 'Bad key', type: code, code, param: code } }),
  claude: (code: string) => data({ type: 'error', error: { type: code, message: 'Bad key' } }, 'error'),
})) {
  for (const format of wireFormats) {
    test(`the code of a mid-stream error doesn't expose other connections' keys (${provider} provider, ${format} client)`, async () => {
      for (const secret of OTHERS) {
        const respond = () => sse([...(streams[provider]?.start() ?? []), error(`key_${secret}`)].map(String))
        const world = await openWorld({ fetch: fakeUpstream(respond), catalog, connections })
        const text = await (await world.post(...questions[format](`${provider}/m`, true))).text()
        assert.match(text, /Hello .*Bad key/s)
        assertHidden(text.toLowerCase(), secret.toLowerCase())
        assertHidden(JSON.stringify(world.recorded), secret)
      }
    })
  }
}

for (const stream of [false, true]) {
  test(`the headers of a successful response don't expose other connections' keys, passed through or translated${stream ? ', streamed' : ''}`, async () => {
    for (const secret of OTHERS) {
      for (const value of [secret, `Bearer ${secret}`, `x;${secret};y`]) {
        if (/["\\]/.test(secret) && value.includes(' ')) continue
        const responses: Record<string, () => Response> = {
          chat: () => (stream ? sse(chatEvents()) : json(chatResponse())),
          claude: () => (stream ? sse(messageEvents()) : json(messageResponse())),
        }
        const upstream = fakeUpstream(({ provider }) => {
          const response = responses[provider]?.() ?? json({})
          for (const name of ['x-debug', 'x-request-id', 'request-id', 'openai-version'])
            response.headers.set(name, value)
          response.headers.set('x-other', 'kept')
          return response
        })
        const world = await openWorld({ fetch: upstream, catalog, connections })
        for (const [requested, model] of [
          ['chat', 'chat/m'],
          ['messages', 'claude/m'],
          ['messages', 'chat/m'],
          ['chat', 'claude/m'],
          ['chat', 'chat/m'],
        ] as const) {
          const response = await world[requested]({ model, messages: hi, stream })
          assert.is(response.status, 200)
          assertHidden(JSON.stringify([...response.headers]), secret)
          const isPassedThrough = (requested === 'chat') === model.startsWith('chat')
          assert.is(response.headers.get('x-other'), isPassedThrough ? 'kept' : null)
          await response.text()
        }
      }
    }
  })
}

test("headers don't expose other connections' loaded keys, even after a key changes", async () => {
  let quoted = 'a-key-that-comes-later-1'
  const upstream = fakeUpstream(() => json(chatResponse(), 200, { 'x-debug': quoted }))
  const world = await openWorld({ fetch: upstream, catalog, connections })
  assert.is((await world.chat({ model: 'chat/m' })).headers.get('x-debug'), quoted)
  const { id } = await world.api.connections.create({ provider: 'spare', name: 'later', apiKey: quoted })
  assert.is((await world.chat({ model: 'chat/m' })).headers.get('x-debug'), null)
  await world.api.connections.update(id, { apiKey: 'a-key-that-comes-later-2' })
  assert.is((await world.chat({ model: 'chat/m' })).headers.get('x-debug'), quoted)
  quoted = 'a-key-that-comes-later-2'
  assert.is((await world.chat({ model: 'chat/m' })).headers.get('x-debug'), null)
})

test("the headers of a successful response don't expose the call's own key", async () => {
  const upstream = fakeUpstream(() => json(chatResponse(), 200, { 'x-debug': 'Bearer the-credential-of-chat' }))
  const world = await openWorld({ fetch: upstream, catalog, connections })
  assert.is((await world.chat({ model: 'chat/m' })).headers.get('x-debug'), null)
})
