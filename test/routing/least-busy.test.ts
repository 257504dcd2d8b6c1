import { chatEvents, chatResponse } from '../pipeline/support/responses.ts'
import { json, never, type Respond, sse } from '../pipeline/support/upstream.ts'
import { assert, suite } from '../support/suite.ts'
import { getCount, openPool, type Pool, type PoolOptions } from './support/pool.ts'

const test = suite('least-busy')

const busy = (...models: string[]) => ({ models, strategy: 'least-busy' as const })
const pair = busy('one/m', 'two/m')

/** Responds to the first call with `respond`, and immediately to all others. */
const first = (respond: Respond): PoolOptions => ({
  respond: (call, index) => (index === 1 ? respond(call, index) : json(chatResponse())),
})

for (const [count, models] of [
  [10, ['one/m', 'two/m']],
  [9, ['one/m', 'two/m', 'three/m']],
] as const) {
  test(`a burst of ${count} requests is spread evenly over ${models.length} targets`, async () => {
    const { world, upstream } = await openPool(busy(...models))
    await Promise.all(Array.from({ length: count }, () => world.chat({ model: 'pool' })))
    const counts = Object.values(getCount(upstream.providers))
    assert.equal(counts, Array(models.length).fill(count / models.length))
  })
}

test('a burst is spread evenly over the healthy targets if one is in cooldown', async () => {
  const { world, upstream, down } = await openPool(busy('one/m', 'two/m', 'three/m'))
  down.set('one', 401)
  await world.chat({ model: 'one/m' })
  upstream.calls.length = 0
  await Promise.all(Array.from({ length: 10 }, () => world.chat({ model: 'pool' })))
  assert.equal(getCount(upstream.providers), { two: 5, three: 5 })
})

/** Sends requests that never get a response, one by one. Returns how many each target got. */
async function waitingFor(pool: Pick<Pool, 'world' | 'upstream'>, times: number) {
  const { world, upstream } = pool
  upstream.calls.length = 0
  for (let time = 1; time <= times; time++) {
    void world.chat({ model: 'pool' })
    while (upstream.calls.length < time) await world.clock.advance(0)
  }
  return getCount(upstream.providers)
}

test('requests count as load for their provider, whichever of its connections serves them', async () => {
  const pool = await openPool(pair, {
    connections: [{ provider: 'one', apiKey: 'dead' }, 'one', 'two'],
    respond: ({ headers }) => (headers.get('authorization') === 'Bearer dead' ? json({}, 401) : never()),
  })
  void pool.world.chat({ model: 'one/m' })
  while (pool.upstream.calls.length < 2) await pool.world.clock.advance(0)
  assert.equal(await waitingFor(pool, 9), { one: 4, two: 5 }, 'one is already waiting')
})

test("a request isn't counted twice when its combo and its connection strategy are both least-busy", async () => {
  const connections = ['a', 'b'].map((name) => ({ provider: 'one', name, apiKey: `key-${name}` }))
  const combo = { ...busy('one/m', 'two/m'), connectionStrategy: 'least-busy' as const }
  const { world, upstream } = await openPool(combo, { connections: [...connections, 'two'] })
  await world.chat({ model: 'pool' })
  assert.is(upstream.calls[0]?.headers.get('authorization'), 'Bearer key-a')
})

test("requests to any of an inner combo's targets count as that combo's load", async () => {
  const combos = { inner: { models: ['one/m', 'two/m'], strategy: 'round-robin' as const } }
  const pool = await openPool(busy('inner', 'three/m'), { combos, respond: never })
  assert.equal(await waitingFor(pool, 12), { one: 3, two: 3, three: 6 })
})

test('a non-streaming request counts as load until the response is complete', async () => {
  let bring: () => void = () => {}
  const late = new Promise<void>((resolve) => {
    bring = resolve
  })
  const { world, upstream, sendAll } = await openPool(
    pair,
    first(() => late.then(() => json(chatResponse()))),
  )
  const pending = world.chat({ model: 'pool' })
  while (upstream.calls.length < 1) await world.clock.advance(0)
  assert.is(await sendAll(2), 'two two')
  bring()
  await pending
  assert.is(await sendAll(1), 'one')
  assert.is(upstream.open, 0)
})

const stream = { model: 'pool', stream: true }
const events = chatEvents()
const ends: Array<[how: string, rest: Respond, end: (response: Response, leave: AbortController) => Promise<unknown>]> =
  [
    ['is read to the end', () => sse(events), (response) => response.text()],
    ['is cut off', () => sse(events.slice(0, 3), 'error'), (response) => response.text()],
    [
      'is aborted by a client disconnect',
      () => sse(events.slice(0, 3), 'hang'),
      async (_, controller) => controller.abort(),
    ],
    ['is canceled by the app', () => sse(events.slice(0, 3), 'hang'), async (response) => response.body?.cancel()],
  ]
for (const [mode, respond, end] of ends) {
  test(`a stream counts as load until it ${mode}`, async () => {
    const { world, upstream, sendAll } = await openPool(pair, first(respond))
    const controller = new AbortController()
    const response = await world.chat(stream, { signal: controller.signal })
    assert.is(await sendAll(2), 'two two')
    await end(response, controller)
    assert.is(await sendAll(2), 'one one')
    assert.is(upstream.open, 0)
  })
}

test('a request no longer counts as load if its client disconnects before the response', async () => {
  const { world, upstream, sendAll } = await openPool(pair, first(never))
  const controller = new AbortController()
  const pending = world.chat(stream, { signal: controller.signal })
  while (upstream.calls.length < 1) await world.clock.advance(0)
  assert.is(await sendAll(1), 'two')
  controller.abort()
  await pending
  assert.is(await sendAll(1), 'one')
})

test('a failed attempt no longer counts as load', async () => {
  const { down, sendAll } = await openPool(pair)
  down.set('one', 500)
  assert.is(await sendAll(2), 'one>two one>two')
  down.clear()
  assert.is(await sendAll(2), 'one one')
})

test('a request that fails on every target no longer counts as load', async () => {
  const { world, down, sendAll } = await openPool(pair)
  down.set('one', 401).set('two', 401)
  assert.is(await sendAll(1), 'one>two')
  down.clear()
  await world.clock.advance(10 * 60_000)
  assert.is(await sendAll(2), 'one one')
})
