import { times } from '../support/ci.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { askRaw } from './support/raw.ts'
import { chatResponse } from './support/responses.ts'
import { fakeUpstream, json } from './support/upstream.ts'
import { openWorld } from './support/world.ts'

const test = suite('the retry budget')

/** Sends `perSecond` requests per second for `seconds` to a gateway that never puts its targets into cooldown. Resolves to the upstream calls. */
async function load(perSecond: number, seconds: number) {
  let nowMs = 0
  const upstream = fakeUpstream(() => json({ error: { message: 'down' } }, 503))
  const clock = { ...fakeClock(), now: () => nowMs }
  const world = await openWorld({ fetch: upstream, clock, combos: { chain: ['one/m', 'two/m', 'three/m'] } })
  const start = upstream.calls.length
  for (let request = 0; request < perSecond * seconds; request++) {
    nowMs += 1_000 / perSecond
    await world.api.health.reset()
    await askRaw(world.gateway, '/v1/chat/completions', { model: 'chain' })
  }
  return { calls: upstream.calls.length - start, world, upstream, at: (ms: number) => (nowMs = ms) }
}

test('targets that always fail get at most 1.2 calls per request plus ten per second', async () => {
  for (const [perSecond, seconds] of [
    [times(1_000), 1],
    [100, 3],
    [10, 8],
  ] as const) {
    const { calls } = await load(perSecond, seconds)
    const requests = perSecond * seconds
    assert.ok(calls <= 1.2 * requests + 10 * seconds, `${calls} calls for ${requests} requests in ${seconds} s`)
    assert.ok(calls > requests, 'some requests are retried')
  }
})

test('at one request per second, each request is tried three times', async () => {
  assert.is((await load(1, 20)).calls, 60)
})

test('once the retry budget is exhausted, clients get the first failure with an explanation and retry time', async () => {
  const { world, upstream } = await load(1_000, 0.1)
  let before = 0
  let response = new Response()
  while (upstream.calls.length !== before + 1) {
    before = upstream.calls.length
    await world.api.health.reset()
    response = await world.chat({ model: 'chain' }) // five requests earn one retry
  }
  assert.is(response.status, 503)
  assert.is(response.headers.get('x-should-retry'), 'false')
  assert.is(response.headers.get('x-signalbox-attempts'), 'one/m=503:server;via=chain:fallback, stopped=retry-budget')
  assert.is(response.headers.get('retry-after'), '1', 'the budget has refilled by then')
  const message = "down. No further attempt was made because the gateway's retry budget is used up."
  assert.equal(await response.json(), { error: { message } })
})

test('a request without a retry uses none of the retry budget', async () => {
  const { world } = await load(1_000, 0.1)
  const response = await world.chat({ model: 'one/m' })
  assert.is(response.headers.get('x-signalbox-attempts'), 'one/m=503:server')
  const well = await openWorld({ fetch: fakeUpstream(() => json(chatResponse())) })
  for (let request = 0; request < 50; request++) assert.is((await well.chat({})).status, 200)
})

test("the retry budget doesn't grow while the gateway is idle", async () => {
  const { world, upstream, at } = await load(1_000, 0.1)
  at(3_600_000)
  const before = upstream.calls.length
  for (let request = 0; request < 200; request++) {
    await world.api.health.reset()
    await world.chat({ model: 'chain' })
  }
  const retries = upstream.calls.length - before - 200
  assert.is(retries, 50, 'a fifth of the requests, plus ten')
})
