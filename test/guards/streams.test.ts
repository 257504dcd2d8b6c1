import { memoryStorage } from '../../adapters/storage/memory.ts'
import { words } from '../../src/features/guards/guards.ts'
import { createGateway } from '../../src/gateway.ts'
import type { Guard } from '../../src/index.ts'
import { chatChunk, chatEvents, messageEvents, ping, textDelta } from '../pipeline/support/responses.ts'
import { fakeUpstream } from '../pipeline/support/upstream.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { type ClientName, openWorld, WORD, w } from './world.ts'

const test = suite('guards on streams')

const builtIn = words({ name: 'words', words: [WORD] })
const toStream = (pieces: readonly string[]) => [
  ...pieces.map((content) => chatChunk({ content })),
  ...chatEvents().slice(-3),
]

/** Opens a gateway with a provider that streams whatever the test sends. */
async function openLive(guard: Guard) {
  let send: (text: string) => void = () => {}
  let end = () => {}
  let isCanceled = false
  const upstream = fakeUpstream(
    () =>
      new Response(
        new ReadableStream<Uint8Array>({
          start(controller) {
            send = (text) => controller.enqueue(new TextEncoder().encode(text))
            end = () => controller.close()
          },
          cancel() {
            isCanceled = true
          },
        }),
        { headers: { 'content-type': 'text/event-stream' } },
      ),
  )
  const gateway = createGateway({
    ...{ storage: memoryStorage(), fetch: upstream, logger: false, guards: [guard] },
    connections: { one: { apiKey: 'k', baseUrl: 'https://one.test/v1' } },
  })
  const sending = gateway.fetch('http://gateway/v1/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'one/m', stream: true, messages: [{ role: 'user', content: 'Hi' }] }),
  })
  while (upstream.calls.length === 0) await new Promise((resolve) => setTimeout(resolve, 1))
  await new Promise((resolve) => setTimeout(resolve, 5))
  send(chatChunk({ role: 'assistant', content: 'One. ' }))
  const response = await sending
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  let text = ''
  const reading = (async () => {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read())
      text += new TextDecoder().decode(chunk.value)
  })()
  return {
    send: (events: string) => send(events),
    end: () => end(),
    /** Waits `ms`, and returns everything that the client has received so far. */
    async arrived(ms = 50) {
      await new Promise((resolve) => setTimeout(resolve, ms))
      return text
    },
    reading,
    isCanceled: () => isCanceled,
  }
}

test("held text isn't sent while the provider is silent, and pings continue", async () => {
  const { send, end, arrived, reading } = await openLive(builtIn)
  assert.match(await arrived(), 'One. ')
  send(chatChunk({ content: 'Say SESA' }))
  send(': ping\n\n')
  const text = await arrived(900)
  assert.not.match(text, 'SESA')
  assert.match(text, ': ping')
  send(chatChunk({ content: 'me' }))
  send(chatEvents().slice(-3).join(''))
  end()
  await reading
  assert.match(await arrived(), 'content_filter')
})

test('a rejection cancels the provider call', async () => {
  const { send, arrived, reading, isCanceled } = await openLive(builtIn)
  send(chatChunk({ content: `${WORD}. ` }))
  await reading
  assert.match(await arrived(), 'content_filter')
  assert.ok(isCanceled())
})

test('held text is checked by a custom guard after 750 ms, even without a complete sentence', async () => {
  const { send, end, arrived, reading } = await openLive({ ...w, maxMatch: 6 })
  send(chatChunk({ content: 'several words without an end' }))
  assert.not.match(await arrived(100), 'several')
  send(chatChunk({ content: ' and more' }))
  assert.match(await arrived(1_500), 'several words without an end')
  send(chatEvents().slice(-3).join(''))
  end()
  await reading
})

test("text that can't be the start of a match isn't held", async () => {
  const { send, end, arrived, reading } = await openLive(builtIn)
  send(chatChunk({ content: 'Two' }))
  assert.match(await arrived(), '"Two"')
  send(chatChunk({ content: ' sea' }))
  assert.match(await arrived(), '" sea"')
  send(chatEvents().slice(-3).join(''))
  end()
  await reading
})

for (const guard of [w, builtIn]) {
  test(`a blocked word is rejected no matter where the stream is split (${guard.name})`, async () => {
    const full = toStream(['One. ', `Say ${WORD}`, ' now']).join('')
    const from = full.indexOf(WORD) - 30
    for (let index = from; index < from + 60; index += 3) {
      const { say } = await openWorld([guard], { events: [full.slice(0, index), full.slice(index)] })
      const text = await (await say('openai-chat', 'Hi', { stream: true })).text()
      assert.not.match(text, WORD, `${index}`)
      assert.match(text, 'content_filter')
    }
  })

  test(`a blocked word in the reasoning is rejected (${guard.name})`, async () => {
    const events = [chatChunk({ reasoning_content: `I think ${WORD}. ` }), ...toStream(['Fine.'])]
    for (const client of ['openai-chat', 'openai-responses', 'anthropic-messages', 'gemini', 'ai-sdk'] as const) {
      const text = await (await (await openWorld([guard], { events })).say(client, 'Hi', { stream: true })).text()
      assert.not.match(text, WORD, client)
      assert.not.match(text, 'Fine', client)
    }
  })

  test(`a blocked word that appears only in the stream's final copy of the text is rejected (${guard.name})`, async () => {
    const probe = await openWorld([], { events: toStream(['One. ', 'Two.']) })
    const stream = await (await probe.say('openai-responses', 'Hi', { stream: true })).text()
    const index = stream.indexOf('event: response.completed')
    const events = [stream.slice(0, index), stream.slice(index).replaceAll('Two.', `${WORD}.`)]
    const { say } = await openWorld([guard], { events, format: 'openai-responses' })
    const text = await (await say('openai-responses', 'Hi', { stream: true })).text()
    assert.not.match(text, WORD)
    assert.match(text, 'content_filter')
  })

  test(`log probabilities don't contain tokens of rejected text (${guard.name})`, async () => {
    const logprobs = { content: [{ token: 'SES', logprob: -1, bytes: null, top_logprobs: [] }] }
    const chunk = JSON.parse(chatChunk({ content: 'SES' }).slice('data: '.length))
    chunk.choices[0].logprobs = logprobs
    const events = [chatChunk({ content: 'One. ' }), `data: ${JSON.stringify(chunk)}\n\n`, ...toStream(['AME. '])]
    const text = await (await (await openWorld([guard], { events })).say('openai-chat', 'Hi', { stream: true })).text()
    assert.not.match(text, 'SES')
  })
}

test('a stream that is held until it ends is rejected if it is too long', async () => {
  const guard: Guard = { name: 'all', hold: 'all', on: ['answer'], check: () => undefined }
  const events = toStream(Array.from({ length: 100 }, () => 'a long piece of text '.repeat(50)))
  const { say } = await openWorld([guard], { events, options: { limits: { maxResponseBytes: 50_000 } } })
  const text = await (await say('openai-chat', 'Hi', { stream: true })).text()
  assert.not.match(text, 'a long piece')
  assert.match(text, 'content_filter')
})

test('a held 20 MB stream is rejected at the limit without being fully buffered', async () => {
  const guard: Guard = { name: 'all', hold: 'all', on: ['answer'], check: () => undefined }
  const piece = chatChunk({ content: 'a long piece of text '.repeat(500) })
  let count = 0
  async function* createEvents() {
    for (; count < 20_000_000 / piece.length; count++) yield piece
    yield* toStream([])
  }
  const { say } = await openWorld([guard], {
    events: createEvents(),
    options: { limits: { maxResponseBytes: 1_000_000 } },
  })
  const text = await (await say('openai-chat', 'Hi', { stream: true })).text()
  assert.not.match(text, 'a long piece')
  assert.match(text, 'content_filter')
  assert.ok(count * piece.length < 2_000_000, `${count * piece.length} characters were read`)
})

test('a stream that a guard holds until it ends is sent completely', async () => {
  const guard: Guard = { name: 'all', hold: 'all', on: ['answer'], check: () => undefined }
  const { say } = await openWorld([guard], { events: toStream(['One. ', 'Two.']) })
  const text = await (await say('openai-chat', 'Hi', { stream: true })).text()
  assert.match(text, 'One. ')
  assert.match(text, '[DONE]')
})

test("a rejection closes a passthrough Messages stream's open blocks", async () => {
  const events = messageEvents('One. ')
  const stream = [...events.slice(0, -3), ping, textDelta(`${WORD}. `), ...events.slice(-3)]
  const { say } = await openWorld([builtIn], { events: stream, format: 'anthropic-messages' })
  const text = await (await say('anthropic-messages', 'Hi', { stream: true })).text()
  const types = [...text.matchAll(/^event: (.*)$/gm)].map(([, type]) => type)
  assert.equal(types.slice(-3), ['content_block_stop', 'message_delta', 'message_stop'])
  assert.match(text, '"stop_reason":"refusal"')
  assert.not.match(text, WORD)
})

test('a blocked word at the very end of a choice is rejected', async () => {
  const events = [chatChunk({ content: `The word is ${WORD}` }), ...chatEvents().slice(-3)]
  const text = await (await (await openWorld([builtIn], { events })).say('openai-chat', 'Hi', { stream: true })).text()
  assert.not.match(text, WORD)
  assert.match(text, 'content_filter')
})

test('a provider error mid-stream reaches the client', async () => {
  const events = [chatChunk({ content: 'One. ' }), 'data: {"error":{"message":"Overloaded","type":"server_error"}}\n\n']
  const text = await (await (await openWorld([builtIn], { events })).say('openai-chat', 'Hi', { stream: true })).text()
  assert.match(text, 'Overloaded')
  assert.not.match(text, '[DONE]')
})

test('a stream rejected at its first chunk still sends its start events', async () => {
  const events = [
    [chatChunk({ role: 'assistant', content: '' }), chatChunk({ content: WORD }), ...chatEvents().slice(-3)].join(''),
  ]
  for (const [client, start] of [
    ['anthropic-messages', 'message_start'],
    ['openai-responses', 'response.created'],
    ['ai-sdk', 'stream-start'],
  ] as const) {
    const { say } = await openWorld([builtIn], { events })
    const text = await (await say(client, 'Hi', { stream: true })).text()
    assert.match(text, start)
    assert.not.match(text, WORD)
  }
})

for (const [title, guard, client] of [
  [
    'a stream that is held until it ends',
    { name: 'all', hold: 'all', on: ['answer'], check: () => undefined },
    'openai-chat',
  ],
  ['a held tool call', builtIn, 'openai-chat'],
  [
    'a slow check',
    { name: 'slow', timeoutMs: 90_000, on: ['answer'], check: () => new Promise(() => {}) },
    'openai-chat',
  ],
  [
    'a stream in array format',
    { name: 'all', hold: 'all', on: ['answer'], check: () => undefined },
    'gemini, as an array',
  ],
] as const satisfies ReadonlyArray<readonly [string, Guard, ClientName]>)
  test(`the client gets a keep-alive every 15 s during ${title}`, async () => {
    const clock = fakeClock()
    const call = (delta: object) => chatChunk({ tool_calls: [{ index: 0, ...delta }] })
    async function* events() {
      yield call({ id: 'a', type: 'function', function: { name: 'f', arguments: '' } })
      for (let second = 0; second < 60; second++) {
        await clock.sleep(1_000)
        yield call({ function: { arguments: ' ' } })
        yield chatChunk({ content: 'word' })
      }
      yield* chatEvents().slice(-3)
    }
    const { say } = await openWorld([guard], { events: events(), options: { clock, usage: false } })
    const response = await say(client, 'Hi', { stream: true })
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    const times: number[] = []
    const startedAt = clock.now()
    const reading = (async () => {
      for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
        if (!/^(?::|\s)/.test(new TextDecoder().decode(chunk.value))) break
        times.push(Math.round((clock.now() - startedAt) / 1_000))
      }
      await reader.cancel()
    })()
    for (let second = 0; second < 62; second++) await clock.advance(1_000)
    assert.equal(times.slice(0, 3), [15, 30, 45])
    await clock.advance(60_000)
    await reading
  })
