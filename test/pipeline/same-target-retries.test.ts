import { assert, suite } from '../support/suite.ts'
import { chatResponse } from './support/responses.ts'
import { type FakeUpstream, fakeUpstream, json } from './support/upstream.ts'
import { openWorld, type World, type WorldOptions } from './support/world.ts'

const test = suite('same-target retries')

type Replies = ReadonlyArray<() => Response>

/** Opens a gateway with an upstream that sends these responses, and then repeats the last one. */
async function lone(responses: Replies, options: WorldOptions = {}): Promise<{ upstream: FakeUpstream; world: World }> {
  const upstream = fakeUpstream((_, index) => (responses[index - 1] ?? responses.at(-1))?.() ?? json(chatResponse()))
  return { upstream, world: await openWorld({ fetch: upstream, ...options }) }
}

/** Resolves to the response and its duration in ms. The clock only advances while the request waits between two attempts. */
async function sendChat({ clock, chat, recorded }: World, upstream: FakeUpstream, model = 'one/m') {
  const startedAt = clock.now()
  let response: Response | undefined
  const pending = chat({ model }).then((reply) => {
    response = reply
  })
  while (!response) {
    const isBetween =
      upstream.calls.length > 0 && recorded.attempts.length === upstream.calls.length && clock.pending() === 1
    await clock.advance(isBetween ? 10 : 0)
  }
  await pending
  return {
    status: response.status,
    header: (name: string) => response?.headers.get(name),
    attempts: response.headers.get('x-signalbox-attempts'),
    tookMs: clock.now() - startedAt,
    text: await response.text(),
  }
}

const well = () => json(chatResponse())
const rejectWith = (status: number, headers: Record<string, string>) => () =>
  json({ error: { message: 'not now' } }, status, headers)
const unsent = (code: string) => () => {
  throw new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) })
}

for (const code of ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'UND_ERR_CONNECT_TIMEOUT']) {
  test(`the same target is retried immediately if nothing was sent (${code})`, async () => {
    const { upstream, world } = await lone([unsent(code), well])
    const response = await world.chat({})
    assert.is(response.status, 200)
    assert.is(upstream.calls.length, 2)
    assert.is(response.headers.get('x-signalbox-attempts'), 'one/m=502:network, one/m=200')
  })
}

test('the same target is retried immediately after a Deno connection error without a code', async () => {
  for (const [words, code] of [
    ['tcp connect error: Connection refused (os error 111)', 'ECONNREFUSED'],
    ['dns error: failed to lookup address information: Name or service not known', 'ENOTFOUND'],
  ]) {
    const cause = new Error(`error sending request for url (http://one.test/): client error (Connect): ${words}`)
    const { upstream, world } = await lone([
      () => {
        throw new TypeError('fetch failed', { cause })
      },
    ])
    const response = await world.chat({})
    assert.is(upstream.calls.length, 2)
    assert.match(
      await response.text(),
      `is unreachable (${code}). Check the base URL of its connection, and DNS, proxy, and firewall settings.`,
    )
  }
})

test('if nothing was sent, the same target is retried once, without a wait', async () => {
  const { upstream, world } = await lone([unsent('ECONNREFUSED')])
  const response = await world.chat({})
  assert.is(response.status, 502)
  assert.is(upstream.calls.length, 2)
  assert.is(response.headers.get('x-signalbox-attempts'), 'one/m=502:network, one/m=502:network')
  assert.match(await response.text(), /The provider \\"one\\" is unreachable \(ECONNREFUSED\)/)
})

test("same-target retries count toward a request's maximum number of attempts", async () => {
  const { upstream, world } = await lone([rejectWith(503, { 'x-should-retry': 'true' })])
  const { status, attempts, tookMs } = await sendChat(world, upstream)
  assert.is(status, 503)
  assert.is(upstream.calls.length, 3)
  assert.is(attempts, 'one/m=503:server, one/m=503:server, one/m=503:server')
  assert.ok(tookMs <= 250 + 500 + 20, `${tookMs}`)
})

test("the same target isn't retried if the request may have been read", async () => {
  for (const code of ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'CERT_HAS_EXPIRED']) {
    const { upstream, world } = await lone([unsent(code), well])
    assert.is((await world.chat({})).status, 502)
    assert.is(upstream.calls.length, 1, code)
  }
})

test("the same target isn't retried if the response doesn't suggest a retry", async () => {
  for (const [status, headers] of [
    [500, {}],
    [503, {}],
    [429, {}],
    [429, { 'retry-after': '20' }],
    [429, { 'retry-after': '2' }],
    [503, { 'retry-after': '1', 'x-should-retry': 'false' }],
    [429, { 'retry-after': 'soon' }],
    [429, { 'retry-after': '-1' }],
    [429, { 'x-ratelimit-reset-requests': '1s', 'x-ratelimit-remaining-requests': '0' }],
    [503, { 'retry-after': '30', 'x-should-retry': 'true' }],
    [400, { 'x-should-retry': 'true' }],
    [409, { 'x-should-retry': 'true' }],
    [401, { 'x-should-retry': 'true' }],
    [404, { 'retry-after': '0' }],
    [413, { 'retry-after': '0' }],
  ] as const) {
    const { upstream, world } = await lone([rejectWith(status, headers), well])
    await sendChat(world, upstream)
    assert.is(upstream.calls.length, 1, `${status} ${JSON.stringify(headers)}`)
  }
})

test('the same target is retried after the wait that the response requests', async () => {
  for (const [status, headers, fromMs, toMs] of [
    [429, { 'retry-after': '0' }, 0, 0],
    [503, { 'retry-after': '0' }, 0, 0],
    [429, { 'retry-after': '1' }, 1_000, 1_150],
    [503, { 'retry-after': '1' }, 1_000, 1_150],
    [429, { 'retry-after-ms': '300' }, 300, 400],
    [503, { 'retry-after-ms': '300' }, 300, 400],
    [503, { 'x-should-retry': 'true' }, 0, 250],
    [500, { 'x-should-retry': 'true' }, 0, 250],
    [429, { 'x-should-retry': 'true' }, 1_000, 1_150],
  ] as const) {
    const { upstream, world } = await lone([rejectWith(status, headers), well])
    const { tookMs, attempts } = await sendChat(world, upstream)
    const label = `${status} ${JSON.stringify(headers)}: ${tookMs} ms`
    assert.is(upstream.calls.length, 2, label)
    assert.ok(tookMs >= fromMs && tookMs <= toMs + 10, label)
    assert.is(attempts, `one/m=${status}:${status === 429 ? 'rate-limit' : 'server'}, one/m=200`)
  }
})

test("if a target's retry also fails, the latest message is reported", async () => {
  const last = json({ error: { message: 'still not' } }, 503)
  const { upstream, world } = await lone([rejectWith(503, { 'retry-after': '0' }), () => last])
  const { status, text, attempts, header } = await sendChat(world, upstream)
  assert.is(status, 503)
  assert.equal(JSON.parse(text), { error: { message: 'still not' } })
  assert.is(attempts, 'one/m=503:server, one/m=503:server')
  assert.is(header('x-should-retry'), 'false')
})

test("the same target isn't retried if the wait exceeds the client's timeout", async () => {
  const { upstream, world } = await lone([rejectWith(503, { 'retry-after': '1' }), well])
  const response = await world.chat({}, { headers: { 'x-signalbox-timeout-ms': '800' } })
  assert.is(response.status, 503)
  assert.is(upstream.calls.length, 1)
})

test('a client disconnect ends the wait for a same-target retry', async () => {
  const { upstream, world } = await lone([rejectWith(503, { 'retry-after': '1' }), well])
  const controller = new AbortController()
  const pending = world.chat({}, { signal: controller.signal })
  await world.clock.untilPending()
  controller.abort()
  await pending.catch(() => {})
  assert.is(world.clock.pending(), 0)
  await world.clock.advance(2_000)
  assert.is(upstream.calls.length, 1)
  assert.is(world.recorded.requests.at(-1)?.status, 499)
})

test('the same target is retried only after all other targets have failed', async () => {
  const combos = { chain: ['one/m', 'two/m'] }
  const other = await lone([unsent('ECONNREFUSED'), well], { combos })
  assert.is(
    (await sendChat(other.world, other.upstream, 'chain')).attempts,
    'one/m=502:network;via=chain:fallback, two/m=200',
    'no retry if the other target succeeds',
  )
  const again = await lone([unsent('ECONNREFUSED'), rejectWith(500, {}), well], { combos })
  const { attempts } = await sendChat(again.world, again.upstream, 'chain')
  assert.is(attempts, 'one/m=502:network;via=chain:fallback, two/m=500:server, one/m=200')
})

test('a retried target is listed once among the failed targets', async () => {
  const combos = { chain: ['one/m', 'two/m'] }
  const { upstream, world } = await lone([unsent('ECONNREFUSED'), rejectWith(500, {})], { combos })
  const { text } = await sendChat(world, upstream, 'chain')
  assert.match(text, /All 2 targets failed/)
})

test('same-target retries use the retry budget', async () => {
  const { upstream, world } = await lone([unsent('ENOTFOUND')], { limits: { maxAttempts: 2 } })
  let last = new Response()
  for (let request = 0; request < 20; request++) {
    await world.api.health.reset()
    last = await world.chat({})
  }
  assert.is(upstream.calls.length, 20 + 10 + 20 / 5)
  await world.api.health.reset()
  last = await world.chat({})
  assert.is(last.headers.get('x-signalbox-attempts'), 'one/m=502:network, stopped=retry-budget')
  assert.match(await last.text(), /No further attempt was made because the gateway's retry budget/)
})

test('a target that appears several times in a combo is called only once', async () => {
  const { upstream, world } = await lone([rejectWith(500, {})], {
    combos: { chain: ['one/m', 'inner', 'one/m'], inner: ['one/m', 'two/m'] },
  })
  const { attempts } = await sendChat(world, upstream, 'chain')
  assert.equal(upstream.providers, ['one', 'two'])
  assert.is(
    attempts,
    'one/m=500:server;via=chain:fallback, one/m=skipped:server;via=chain:fallback>inner:fallback, two/m=500:server, one/m=skipped:server;via=chain:fallback',
  )
})
