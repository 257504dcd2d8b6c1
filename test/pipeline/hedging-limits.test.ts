import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { chatResponse } from './support/responses.ts'
import { type Call, fakeUpstream, json } from './support/upstream.ts'
import { openWorld, type WorldOptions } from './support/world.ts'

const test = suite('when hedging starts a second attempt')

/** Opens a combo with three targets. `msOf` sets the duration of each request in ms, and `fails` its status. */
async function timed(options: WorldOptions & { hedge?: boolean } = {}) {
  const { hedge = true, ...extra } = options
  const clock = fakeClock()
  const recorded = { msOf: (_: Call): number => 10, fails: (_: Call): number | undefined => undefined }
  const upstream = fakeUpstream(async (call) => {
    await clock.sleep(recorded.msOf(call))
    const status = recorded.fails(call)
    return status === undefined ? json(chatResponse()) : json({ error: { message: 'no' } }, status)
  })
  const combos = { pool: { models: ['one/m', 'two/m', 'three/m'], ...(hedge && { hedge }) } }
  const world = await openWorld({ fetch: upstream, clock, combos, ...extra })
  /** Sends one request. Resolves to the targets that were called, and the duration in ms. */
  async function send(model = 'pool') {
    const before = upstream.calls.length
    const startedAt = clock.now()
    let response: Response | undefined
    const pending = world.chat({ model }).then(async (reply) => {
      response = reply
      return reply.text()
    })
    while (!response) await clock.advance(upstream.open > 0 ? 5 : 0)
    await pending
    const called = upstream.providers.slice(before).join('+')
    return { called, ms: clock.now() - startedAt, status: response.status, headers: response.headers }
  }
  /** Makes the first target respond this many times, mostly within 10 ms and nearly always within 50 ms. */
  async function warm(times: number) {
    for (let time = 0; time < times; time++) {
      recorded.msOf = () => (time % 10 === 9 ? 50 : 10)
      await send('one/m')
    }
    recorded.msOf = () => 10
  }
  for (const model of ['two/m', 'three/m']) await send(model) // decrypts their credentials
  return { world, upstream, clock, recorded, send, warm }
}

const slowFirst = ({ provider }: Call) => (provider === 'one' ? 500 : 10)

test('no second attempt starts unless the combo enables hedging', async () => {
  const { recorded, send, warm } = await timed({ hedge: false })
  await warm(40)
  recorded.msOf = slowFirst
  assert.equal([(await send()).called, (await send('one/m')).called], ['one', 'one'])
})

test('no second attempt starts before the target has responded twenty times', async () => {
  const { recorded, send, warm } = await timed()
  await warm(19)
  recorded.msOf = slowFirst
  assert.is((await send()).called, 'one')
  assert.is((await send()).called, 'one+two')
})

test('the second attempt starts after the time within which nearly all responses arrive', async () => {
  const { upstream, recorded, clock, warm, send, world } = await timed()
  await warm(100)
  assert.is((await send()).called, 'one')
  recorded.msOf = slowFirst
  upstream.calls.length = 0
  const pending = world.chat({ model: 'pool' })
  while (upstream.calls.length < 1) await clock.advance(0)
  await clock.advance(49)
  assert.equal(upstream.providers, ['one'])
  await clock.advance(10)
  assert.equal(upstream.providers, ['one', 'two'])
  await clock.advance(10)
  assert.is((await pending).headers.get('x-signalbox-target'), 'two/m')
})

test("the attempts header lists both hedged attempts, and the slower target's health is unchanged", async () => {
  const { world, recorded, send, warm } = await timed()
  await warm(100)
  recorded.msOf = slowFirst
  for (let time = 0; time < 5; time++) {
    const { headers, ms } = await send()
    assert.is(headers.get('x-signalbox-attempts'), 'one/m=499:outrun;via=pool:fallback, two/m=200')
    assert.ok(ms < 100, `${ms} ms`)
  }
  assert.equal((await world.api.health.list()).health, [])
  assert.equal(
    world.recorded.requests.at(-1)?.attempts.map(({ provider, outcome }) => [provider, outcome]),
    [
      ['one', 'outrun'],
      ['two', 'answered'],
    ],
    'in the order in which they started',
  )
  assert.equal(
    world.recorded.attempts.slice(-2).map(({ outcome, status, durationMs }) => [outcome, status, durationMs < 100]),
    [
      ['answered', 200, true],
      ['outrun', 499, true],
    ],
  )
})

test('if both attempts fail, the next target is tried, and both count toward the attempt limit', async () => {
  for (const [maxAttempts, called, status] of [
    [3, 'one+two+three', 200],
    [2, 'one+two', 503],
    [1, 'one', 503],
  ] as const) {
    const { recorded, send, warm } = await timed({ limits: { maxAttempts } })
    await warm(40)
    recorded.msOf = ({ provider }) => (provider === 'three' ? 10 : 200)
    recorded.fails = ({ provider }) => (provider === 'three' ? undefined : 503)
    const response = await send()
    assert.equal([response.called, response.status], [called, status])
  }
})

test('a hedge skips a target in cooldown', async () => {
  const { recorded, send, warm } = await timed()
  await warm(40)
  recorded.fails = ({ provider }) => (provider === 'two' ? 401 : undefined)
  await send('two/m')
  recorded.msOf = slowFirst
  assert.is((await send()).called, 'one+three')
})

test("a hedge without an available target doesn't use up the budget", async () => {
  const { world, recorded, send, warm } = await timed()
  await world.api.combos.create({ name: 'lonely', models: ['one/m'], hedge: true })
  await warm(40) // earns two hedges
  recorded.msOf = slowFirst
  assert.equal([(await send('lonely')).called, (await send('lonely')).called], ['one', 'one'])
  assert.is((await send()).called, 'one+two')
})

test('a canceled attempt counts toward the latency statistics, so only slow requests are hedged', async () => {
  const { recorded, send, warm } = await timed()
  await warm(300)
  for (let time = 0; time < 100; time++) {
    const isSlow = time % 10 === 9
    recorded.msOf = ({ provider }) => (provider === 'one' && isSlow ? 200 : 10)
    assert.is((await send()).called, isSlow ? 'one+two' : 'one', `request ${time}`)
  }
})

test('at most 5% of 2,000 requests are hedged, even if the first target is very slow', async () => {
  const { upstream, world, clock, recorded } = await timed()
  const requests = 2_000
  const before = upstream.calls.length
  for (let sent = 0; sent < requests; sent += 20) {
    if (sent >= 200) recorded.msOf = ({ provider }) => (provider === 'one' ? 1_000 + sent : 10) // slower than ever before
    let left = 20
    const requested = Array.from({ length: left }, () => world.chat({ model: 'pool' }).then(() => left--))
    while (left > 0) await clock.advance(upstream.open > 0 ? 100 : 0)
    await Promise.all(requested)
  }
  const extra = upstream.calls.length - before - requests
  assert.ok(extra > 0.03 * requests && extra <= 0.05 * requests, `${extra} extra calls`)
  assert.is(upstream.open, 0)
})
