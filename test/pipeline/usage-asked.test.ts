import { assert, suite } from '../support/suite.ts'
import { chatChunk, chatEvents, messageEvents, streaming } from './support/answers.ts'
import { askRaw, chunksOf, cutAt, rawUpstream } from './support/raw.ts'
import { fakeUpstream, sse } from './support/upstream.ts'
import { openWorld } from './support/world.ts'

const test = suite('the tokens of a stream of chat completions')

const usageOf = ({ inputTokens, outputTokens }: { inputTokens?: number; outputTokens?: number } = {}) => [
  inputTokens,
  outputTokens,
]

async function ask(body: string, events: readonly string[] = chatEvents()) {
  const up = fakeUpstream(() => sse(events))
  const world = await openWorld({ fetch: up, connections: ['one'] })
  const text = await (await world.post('/v1/chat/completions', body)).text()
  return { text, sent: up.calls[0]?.body, usage: world.told.usages[0] }
}

const ASKING = '"stream_options":{"include_usage":true}'

const bodies: Readonly<Record<string, [body: string, sent: string]>> = {
  'says nothing of them': [
    ' {"model":"one/m", "n":12345678901234567890,"stream":true}',
    ` {${ASKING},"model":"m", "n":12345678901234567890,"stream":true}`,
  ],
  'wants none': [
    '{"model":"one/m","stream_options":{"include_usage":false},"stream":true ,"x":1.0}',
    `{${ASKING},"model":"m","stream":true ,"x":1.0}`,
  ],
  'wants something else': [
    '{"stream":true,"model":"one/m","stream_options":{"include_obfuscation":false}}',
    '{"stream_options":{"include_obfuscation":false,"include_usage":true},"stream":true,"model":"m"}',
  ],
  'says null': ['{"stream_options":null,"stream":true,"model":"one/m"}', `{${ASKING},"stream":true,"model":"m"}`],
}

for (const [what, [body, sent]] of Object.entries(bodies))
  test(`are counted and not shown to a client that ${what}`, async () => {
    const asked = await ask(body)
    assert.is(asked.sent, sent)
    assert.equal(usageOf(asked.usage), [7, 3])
    const unseen = chatEvents().filter((event) => !event.includes('"usage"'))
    assert.is(asked.text, unseen.join(''))
  })

test('are shown to a client that asks, whose bytes are passed on as they are', async () => {
  const body = JSON.stringify({ model: 'one/m', ...streaming })
  const { sent, text, usage } = await ask(body)
  assert.is(sent, body.replace('one/', ''))
  assert.is(text, chatEvents().join(''))
  assert.equal(usageOf(usage), [7, 3])
})

const [role = '', ...rest] = chatEvents()
const streams: Readonly<Record<string, { events: string[]; isSeen?: (event: string) => boolean }>> = {
  'lines that end by CRLF': { events: chatEvents().map((event) => event.replaceAll('\n', '\r\n')) },
  'lines that end by CR': { events: chatEvents().map((event) => event.replaceAll('\n', '\r')) },
  'spaces in the JSON': { events: chatEvents().map((event) => event.replaceAll('":', '": ')) },
  'comments between': { events: chatEvents().flatMap((event) => [': so\n\n', event]) },
  'a first chunk without choices': {
    events: [`data: {"choices":[],"prompt_filter_results":[],"usage":null}\n\n`, role, ...rest],
    isSeen: (event) => !event.includes('"prompt_tokens"'),
  },
  'words that look like it': {
    events: [role, chatChunk({ content: '"choices":[] "usage":{}' }), ...rest],
    isSeen: (event) => !event.includes('"prompt_tokens"'),
  },
  'tokens beside the finish': {
    events: [
      role,
      chatChunk({ content: 'a' }),
      chatChunk({}, 'stop').replace('}\n', ',"usage":{"prompt_tokens":7,"completion_tokens":3}}\n'),
    ],
    isSeen: () => true,
  },
}

for (const [what, { events, isSeen = (event: string) => !event.includes('"usage"') }] of Object.entries(streams))
  test(`are left out alone, however the bytes are cut: ${what}`, async () => {
    const bytes = new TextEncoder().encode(events.join(''))
    const seen = events.filter(isSeen).join('')
    const everywhere = Array.from({ length: bytes.length }, (_, at) => at)
    for (const places of [[], [bytes.length - 30], everywhere]) {
      const fetch = rawUpstream(() => chunksOf(cutAt(bytes, places), 'close'))
      const world = await openWorld({ fetch, connections: ['one'] })
      const { text } = await askRaw(world.gateway, '/v1/chat/completions', { model: 'one/m', stream: true })
      assert.is(text, seen)
      assert.equal(usageOf(world.told.usages[0]), [7, 3])
    }
  })

test('are not asked of a provider that tells them anyway, and refuses the wish', async () => {
  const up = fakeUpstream(() => sse(chatEvents()))
  const catalog = { mistral: { baseUrl: 'http://mistral.test/v1', models: [{ id: 'm' }] } }
  const world = await openWorld({ fetch: up, catalog, connections: ['mistral'] })
  const text = await (await world.chat({ model: 'mistral/m', stream: true })).text()
  assert.is(up.calls[0]?.body, '{"model":"m","messages":[],"stream":true}')
  assert.is(text, chatEvents().join(''))
})

test('are no matter of other formats, nor of answers that come whole', async () => {
  const up = fakeUpstream(({ url }) => sse(url.pathname.endsWith('messages') ? messageEvents() : chatEvents()))
  const world = await openWorld({ fetch: up })
  await (await world.messages({ stream: true })).text()
  await (await world.chat({})).text()
  await (await world.post('/v1/completions', { model: 'one/m', prompt: 'Hi', stream: true })).text()
  for (const { body } of up.calls) assert.not.match(body, /stream_options/)
})
