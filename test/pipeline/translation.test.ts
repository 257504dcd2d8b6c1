import { memoryStorage } from '../../adapters/storage/memory.ts'
import { assert, suite } from '../support/suite.ts'
import { both, open } from './support/both-formats.ts'
import { chatEvents, messageEvents } from './support/responses.ts'
import { json, type Respond, sse } from './support/upstream.ts'

const test = suite('translation between formats')

const hello = [{ role: 'user', content: 'Hi' }]

test("a chat client gets a Messages provider's non-streaming response", async () => {
  const { upstream, world } = await open()
  const response = await world.chat({ model: 'claude/c', messages: hello, temperature: 0.5 })
  assert.is(response.status, 200)
  assert.is(response.headers.get('content-type'), 'application/json')
  assert.is(response.headers.get('x-signalbox-target'), 'claude/c')
  const reply = await response.json()
  assert.is(reply.object, 'chat.completion')
  assert.equal(reply.choices[0].message, { role: 'assistant', content: 'Hello', refusal: null, annotations: [] })
  assert.is(reply.choices[0].finish_reason, 'stop')
  const [call] = upstream.calls
  assert.is(call?.url.href, 'http://claude.test/v1/messages')
  assert.is(call?.headers.get('x-api-key'), 'secret-of-claude')
  assert.is(call?.headers.get('anthropic-version'), '2023-06-01')
  const sent = JSON.parse(call?.body ?? '')
  assert.equal([sent.model, sent.temperature], ['c', 0.5])
  assert.type(sent.max_tokens, 'number')
  assert.equal(world.recorded.usages.length, 1)
})

test("a chat client gets a Messages provider's stream, with complete events in each chunk", async () => {
  const { upstream, world } = await open()
  const response = await world.chat({
    model: 'claude/c',
    messages: hello,
    stream: true,
    stream_options: { include_usage: true },
  })
  assert.is(response.headers.get('content-type'), 'text/event-stream; charset=utf-8')
  const events: string[] = []
  const decoder = new TextDecoder()
  for await (const chunk of response.body ?? []) events.push(...decoder.decode(chunk).split(/(?<=\n\n)/))
  for (const event of events) assert.match(event, /^data: [^\n]*\n\n$/)
  const chunks = events.slice(0, -1).map((event) => JSON.parse(event.slice(6)))
  assert.is(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join(''), 'Hello there, world')
  assert.is(events.at(-1), 'data: [DONE]\n\n')
  assert.is(chunks.at(-1).usage.completion_tokens, 5)
  assert.is(world.recorded.usages[0]?.outputTokens, 5)
  assert.is(upstream.open, 0)
})

test("a Messages client gets a chat provider's response, streamed or not", async () => {
  const { world } = await open()
  const full = await (await world.messages({ model: 'one/m', messages: hello })).json()
  assert.equal(full.content, [{ type: 'text', text: 'Hello' }])
  assert.is(full.stop_reason, 'end_turn')
  const text = await (await world.messages({ model: 'one/m', messages: hello, stream: true })).text()
  assert.match(text, /^event: message_start\n/)
  assert.match(text, /event: message_stop\ndata: [^\n]*\n\n$/)
})

test('a stream with an unreadable event ends with an error', async () => {
  const broken = {
    chat: 'data: {"choices":[{"delta":{"cont\n\n',
    messages: 'event: content_block_delta\ndata: {"ty\n\n',
  }
  const chat = chatEvents()
  const messages = messageEvents()
  const { world } = await open(({ provider }) =>
    provider === 'one'
      ? sse([...chat.slice(0, 3), broken.chat, ...chat.slice(3)])
      : sse([...messages.slice(0, 4), broken.messages, ...messages.slice(4)]),
  )
  const asMessages = await (await world.messages({ model: 'one/m', messages: hello, stream: true })).text()
  assert.match(asMessages, /event: error\ndata: [^\n]*malformed[^\n]*\n\n$/)
  const asChat = await (await world.chat({ model: 'claude/c', messages: hello, stream: true })).text()
  assert.match(asChat, /data: \{"error":\{"message":"[^"]*malformed[^\n]*\n\n$/)
  assert.equal(
    world.recorded.requests.map(({ status }) => status),
    [502, 502],
  )
})

test("an error recognizable only by the event name reaches the client in the client's format", async () => {
  const output = [...chatEvents().slice(0, 3), 'event: error\ndata: {"message":"Over"}\n\n', 'data: [DONE]\n\n']
  const { world } = await open(() => sse(output))
  const text = await (await world.messages({ model: 'one/m', messages: hello, stream: true })).text()
  assert.match(text, /event: error\ndata: [^\n]*"message":"Over"[^\n]*\n\n$/)
  assert.is(world.recorded.requests[0]?.status, 502)
})

test("an attempt is recorded with the provider's status, even if the client gets a different status", async () => {
  const { world } = await open(() => json({ error: { message: 'Overloaded' } }, 503))
  const response = await world.messages({ model: 'one/m', messages: hello })
  assert.is(response.status, 529)
  assert.match(response.headers.get('x-signalbox-attempts') ?? '', /^one\/m=503:/)
  assert.is(world.recorded.attempts[0]?.status, 503)
})

test('a combo falls back from a failing provider to a provider of another format', async () => {
  const failFirst: Respond = (call, index) =>
    call.provider === 'claude'
      ? json({ type: 'error', error: { type: 'overloaded_error', message: 'busy' } }, 529)
      : both(call, index)
  const { world } = await open(failFirst, { combos: { chain: ['claude/c', 'one/m'] } })
  const response = await world.messages({ model: 'chain', messages: hello })
  assert.is((await response.json()).content[0].text, 'Hello')
  assert.is(response.headers.get('x-signalbox-attempts'), 'claude/c=529:server;via=chain:fallback, one/m=200')
})

test("a provider's error is converted to the client's format", async () => {
  const overflow = {
    type: 'error',
    error: { type: 'invalid_request_error', message: 'prompt is too long: 9 tokens > 8 maximum' },
  }
  const { world } = await open(() => json(overflow, 400))
  const response = await world.chat({ model: 'claude/c', messages: hello })
  assert.is(response.status, 400)
  assert.is(response.headers.get('content-type'), 'application/json')
  const { error } = await response.json()
  assert.is(error.code, 'context_length_exceeded')
  assert.match(error.message, /prompt is too long/)
})

test('a header lists dropped fields, and a strict request with such fields is rejected', async () => {
  const { upstream, world } = await open()
  const lossy = { model: 'claude/c', messages: hello, seed: 7 }
  assert.is((await world.chat(lossy)).headers.get('x-signalbox-warning'), 'dropped:seed')
  const rejected = await world.chat(lossy, { headers: { 'x-signalbox-strict': 'true' } })
  assert.is(rejected.status, 400)
  assert.match((await rejected.json()).error.message, /"seed"/)
  assert.is(upstream.calls.length, 1)
})

test("a request that one target doesn't support goes to a target that does", async () => {
  const { upstream, world } = await open(both, { combos: { chain: ['claude/c', 'one/m'] } })
  const response = await world.chat({ model: 'chain', messages: hello, n: 2 })
  assert.is(response.status, 200)
  assert.equal(upstream.providers, ['one'])
  assert.is(response.headers.get('x-signalbox-attempts'), 'claude/c=skipped:format;via=chain:fallback, one/m=200')
})

test("a warning can't inject a header", async () => {
  const { world } = await open()
  const response = await world.chat({ model: 'claude/c', messages: hello, 'x\r\nset-cookie: a, b': 1 })
  assert.is(response.status, 200)
  assert.is(response.headers.get('set-cookie'), null)
  assert.match(response.headers.get('x-signalbox-warning') ?? '', /^dropped:x%0D%0Aset-cookie:%20a%2C%20b$/)
})

test('a translated stream that is cut off ends with an error event', async () => {
  const cut = messageEvents().slice(0, 6)
  const { world, upstream } = await open(() => sse(cut))
  const text = await (await world.chat({ model: 'claude/c', messages: hello, stream: true })).text()
  assert.match(text, /data: \{"error":[^\n]*ended the stream before[^\n]*\n\n(data: \[DONE\]\n\n)?$/)
  assert.not.match(text, /finish_reason":"stop"/)
  assert.is(world.recorded.requests[0]?.status, 502)
  assert.is(upstream.open, 0)
})

test('a client disconnect from a translated stream aborts the provider call', async () => {
  const { world, upstream } = await open(() => sse(messageEvents().slice(0, 5), 'hang'))
  const response = await world.chat({ model: 'claude/c', messages: hello, stream: true })
  const reader = response.body?.getReader()
  await reader?.read()
  assert.is(upstream.open, 1)
  await reader?.cancel()
  assert.is(upstream.open, 0)
  assert.is(world.recorded.requests[0]?.status, 499)
})

test("while a provider is silent, the client gets keep-alives in the client's format", async () => {
  const { world } = await open(() => sse(messageEvents().slice(0, 5), 'hang'))
  const response = await world.chat({ model: 'claude/c', messages: hello, stream: true })
  const reader = response.body?.getReader()
  let text = ''
  const decoder = new TextDecoder()
  while (!text.includes('there')) text += decoder.decode((await reader?.read())?.value)
  const next = reader?.read()
  await world.clock.advance(15_000)
  assert.match(decoder.decode((await next)?.value), /^:/)
  await reader?.cancel()
})

test('a token count is estimated, with a warning, if the provider has another format', async () => {
  const { upstream, world } = await open()
  const response = await world.post('/v1/messages/count_tokens', { model: 'one/m', messages: hello })
  assert.is(response.status, 200)
  assert.is(response.headers.get('x-signalbox-warning'), 'estimated:input_tokens')
  assert.type((await response.json()).input_tokens, 'number')
  assert.is(upstream.calls.length, 0)
})

test("a connection with a credential that can't be decrypted is skipped, and the operator is notified", async () => {
  const storage = memoryStorage()
  const { upstream, world } = await open(both, { combos: { chain: ['one/m', 'two/m'] }, storage })
  const [stored] = (await storage.list('connections/')).filter(({ value }) => value.includes('"provider":"one"'))
  if (stored)
    await storage.set(
      stored.key,
      stored.value.replace(/"sealedApiKey":"[^"]{20}/, (text) => `${text.slice(0, -4)}AAAA`),
    )
  const response = await world.chat({ model: 'chain', messages: hello })
  assert.is(response.status, 200)
  assert.is(response.headers.get('x-signalbox-attempts'), 'one/m=500:credentials;via=chain:fallback, two/m=200')
  assert.equal(upstream.providers, ['two'])
  assert.is(world.recorded.errors.length, 1)
})
