import { assert, suite } from '../support/suite.ts'
import { fault } from './support/fault.ts'
import { getChunks, rawUpstream } from './support/raw.ts'
import { chatResponse, type ErrorAnswer } from './support/responses.ts'
import { fakeUpstream, json } from './support/upstream.ts'
import { openWorld } from './support/world.ts'

const test = suite('the final error when all targets fail')

type Replies = Record<string, () => Response>

async function chained(responses: Replies, options: { limits?: { maxAttempts: number } } = {}) {
  const upstream = fakeUpstream(({ provider }) => responses[provider]?.() ?? json(chatResponse()))
  const chain = { chain: ['one/m', 'two/m', 'three/m', 'one/other'] }
  return { upstream, world: await openWorld({ fetch: upstream, combos: chain, ...options }) }
}

const page = (status: number) => () => new Response('<html>', { status, headers: { 'content-type': 'text/html' } })

test('the error after three attempts lists each attempt with its message', async () => {
  const { upstream, world } = await chained({
    one: fault(500, 'one broke'),
    two: fault(429, 'two is full'),
    three: fault(503, 'three rests'),
  })
  const response = await world.chat({ model: 'chain' })
  const { error }: ErrorAnswer = await response.json()
  assert.equal(upstream.providers, ['one', 'two', 'three'])
  assert.is(response.status, 502)
  assert.is(error.type, 'server_error')
  assert.is(error.code, 'upstream_failed')
  for (const part of ['one/m: one broke', 'two/m: two is full', 'three/m: three rests'])
    assert.ok(error.message.includes(part), error.message)
  assert.is(response.headers.get('x-should-retry'), 'false')
  assert.is(
    response.headers.get('x-signalbox-attempts'),
    'one/m=500:server;via=chain:fallback, two/m=429:rate-limit, three/m=503:server, stopped=max-attempts',
  )
  assert.match(error.message, /No other target was tried because .* \(limits\.maxAttempts\)\.$/)
  assert.equal(world.recorded.errors, [], "a provider failure isn't a gateway error")
})

for (const status of [429, 500, 503, 529]) {
  test(`if all targets fail with ${status}, the final error has the same status and all messages`, async () => {
    const { world } = await chained({ one: fault(status, 'A'), two: fault(status, 'B'), three: fault(status, 'C') })
    const response = await world.chat({ model: 'chain' })
    const { error }: ErrorAnswer = await response.json()
    assert.is(response.status, status)
    assert.match(error.message, /All 3 targets failed\. one\/m: A\. two\/m: B\. three\/m: C\. No other/)
    assert.is(error.type, status === 429 ? 'rate_limit_error' : 'server_error')
    assert.equal(world.recorded.errors, [])
  })
}

test("a single failure with an HTML body is reported in the client's format with its status", async () => {
  for (const status of [500, 502, 503, 529, 404, 429]) {
    const { world } = await chained({ one: page(status) })
    const response = await world.chat({ model: 'one/m' })
    const { error }: ErrorAnswer = await response.json()
    assert.is(response.status, status)
    assert.match(error.message, new RegExp(`^The provider "one" returned status ${status}[.:]`))
    assert.is(response.headers.get('x-signalbox-attempts')?.startsWith(`one/m=${status}:`), true)
    assert.equal(world.recorded.errors, [])
  }
})

test("a single failure with a JSON body is passed through, with the gateway's retry advice", async () => {
  const text = `{"error": {"message":"slow down","n":1.0}}`
  for (const status of [408, 429, 500, 503, 529]) {
    for (const [headers, expected] of [
      [{ 'retry-after': '7', 'retry-after-ms': '7000', 'x-should-retry': 'true' }, '7'],
      [{ 'retry-after': '86400' }, '60'],
      [{ 'retry-after': '0' }, '1'],
      [{ 'retry-after-ms': '40' }, '1'],
      [{}, null],
    ] as const) {
      const one = () => json(text, status, { ...headers, 'x-request-id': 'r1' })
      const { world } = await chained({ one }, { limits: { maxAttempts: 1 } })
      const response = await world.chat({ model: 'one/m' })
      assert.is(response.status, status)
      assert.is(await response.text(), text)
      assert.is(response.headers.get('x-request-id'), 'r1')
      const wait = response.headers.get('retry-after')
      if (status === 429 && expected === null)
        assert.match(wait ?? '', /^[12]$/, "the target isn't called for about a second")
      else assert.is(wait, expected)
      assert.is(response.headers.get('retry-after-ms'), null)
      assert.is(response.headers.get('x-should-retry'), 'false')
    }
  }
})

test("a client error's body is passed through unchanged, and clients are told not to retry", async () => {
  for (const status of [400, 404, 409, 413, 422]) {
    const text = `{"error": {"message":"no","n":1.0}}`
    const { world } = await chained({
      one: () => json(text, status, { 'retry-after': '90', 'x-should-retry': 'true' }),
    })
    const response = await world.chat({ model: 'chain' })
    assert.is(await response.text(), text)
    assert.is(response.headers.get('retry-after'), '90')
    assert.is(response.headers.get('x-should-retry'), 'false')
    assert.is(response.headers.get('x-signalbox-target'), 'one/m')
    assert.match(response.headers.get('x-signalbox-attempts') ?? '', /^one\/m=\d+:client;via=chain:fallback$/)
  }
})

test("the gateway's own errors tell clients not to retry, unless the gateway is closed", async () => {
  const { world } = await chained({})
  const none = { messages: [{ role: 'user', content: 'Hi' }] }
  for (const [response, status] of [
    [await world.chat({ model: 'nobody/nothing' }), 404],
    [await world.post('/v1/chat/completions', '{'), 400],
    [await world.post('/v1/chat/completions', none), 400],
    [await world.post('/v1/nowhere', none), 404],
  ] as const) {
    assert.is(response.status, status)
    assert.is(response.headers.get('x-should-retry'), 'false')
  }
  await world.gateway.close()
  const closed = await world.chat({})
  assert.is(closed.status, 503)
  assert.is(closed.headers.get('x-should-retry'), null, 'another instance may be able to respond')
})

test('an invalid provider status becomes a 502, and a 205 becomes a 200', async () => {
  const error = '{"error":{"message":"odd"}}'
  for (const [status, expected, body] of [
    [999, 502, error],
    [600, 502, error],
    [205, 200, JSON.stringify(chatResponse())],
  ] as const) {
    const fetch = rawUpstream(() => getChunks([new TextEncoder().encode(body)]), {
      status,
      contentType: 'application/json',
    })
    const world = await openWorld({ fetch })
    const response = await world.chat({ model: 'one/m' })
    assert.is(response.status, expected)
    assert.is(await response.text(), body)
  }
})

test("rejected provider credentials return a 502 that doesn't expose the key", async () => {
  for (const status of [401, 402, 403]) {
    const { world } = await chained({ one: fault(status, 'Incorrect API key provided: secret-****-one') })
    const response = await world.chat({ model: 'one/m' })
    assert.is(response.status, 502)
    assert.is(response.headers.get('x-should-retry'), 'false')
    const text = await response.text()
    assert.match(text, new RegExp(`rejected the connection's credentials \\(status ${status}\\)`))
    assert.not.match(text + JSON.stringify(world.recorded), /Incorrect|\*\*\*/)
  }
})

test("a credential that a provider echoes in an error isn't exposed", async () => {
  for (const status of [400, 429, 500]) {
    const { world } = await chained({ one: fault(status, 'Bad header: Bearer secret-of-one') })
    const response = await world.chat({ model: 'one/m' })
    assert.is(response.status, status)
    assert.not.match((await response.text()) + JSON.stringify(world.recorded), /secret-of-one/)
  }
  const embedded = { error: { message: 'Bad header: Bearer secret-of-one', code: 500 } }
  const { world } = await chained({ one: () => json(embedded) })
  const response = await world.chat({ model: 'one/m' })
  assert.not.match((await response.text()) + JSON.stringify(world.recorded), /secret-of-one/)
})

test('limits.maxAttempts caps the number of attempts', async () => {
  const down = { one: fault(500, 'A'), two: fault(500, 'B'), three: fault(500, 'C') }
  for (const maxAttempts of [1, 2, 4]) {
    const { upstream, world } = await chained(down, { limits: { maxAttempts } })
    await world.chat({ model: 'chain' })
    assert.is(upstream.calls.length, maxAttempts)
  }
})

test("an error in another format's envelope, or without one, is reported in the client's format", async () => {
  const foreign: Array<[what: string, body: () => Response]> = [
    [
      'another format',
      () => json({ type: 'error', error: { type: 'invalid_request_error', message: 'n is odd' } }, 400),
    ],
    ['an array', () => json([{ error: { message: 'n is odd', code: 400 } }], 400)],
    ['a JSON string', () => json({ error: 'n is odd' }, 400)],
    ['FastAPI', () => json({ detail: 'n is odd' }, 400)],
    ['an unknown envelope', () => json('{"oops":"n is odd"}', 400)],
    ['text', () => new Response('n is odd', { status: 400 })],
  ]
  for (const [label, body] of foreign) {
    const world = await openWorld({ fetch: fakeUpstream(body) })
    const chat = await world.chat({})
    assert.is(chat.status, 400)
    const { error }: ErrorAnswer = await chat.json()
    if (label === 'an unknown envelope') {
      assert.is(error.message, '{"oops":"n is odd"}')
      continue
    }
    assert.equal([error.message, error.type], ['n is odd', 'invalid_request_error'], label)
    if (label === 'another format') continue // the Messages client's own format
    const messages = await world.messages({})
    assert.is(messages.status, 400)
    const envelope = '{"type":"error","error":{"type":"invalid_request_error","message":"n is odd"},"request_id":null}'
    assert.is(await messages.text(), envelope, label)
  }
})

test("a single failed provider's message reaches the client in the client's format", async () => {
  const world = await openWorld({ fetch: fakeUpstream(() => json({ message: 'busy' }, 503)) })
  const response = await world.chat({})
  assert.is(response.status, 503)
  const { error }: ErrorAnswer = await response.json()
  assert.equal([error.message, error.type], ['busy', 'server_error'])
  assert.is(response.headers.get('x-should-retry'), 'false')
})
