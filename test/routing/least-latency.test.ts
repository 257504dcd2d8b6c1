import { chatEvents, chatResponse } from '../pipeline/support/responses.ts'
import { json, slowly, sse } from '../pipeline/support/upstream.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { getCount, openPool, type PoolOptions } from './support/pool.ts'

const test = suite('least-latency')

const fastest = (...models: string[]) => ({ models, strategy: 'least-latency' as const })

/** Time only passes while a target is called, in steps of this many ms. */
const STEP = 50

/**
 * Opens targets with these latencies in ms, until a complete response or a stream's first event. Latencies are by provider or by `authorization`
 * header.
 */
async function openRace(
  ms: Record<string, number>,
  { streamMs = ms, ...options }: PoolOptions & { streamMs?: Record<string, number> } = {},
  models = ['one/m', 'two/m', 'three/m'],
) {
  const clock = fakeClock()
  const pool = await openPool(fastest(...models), {
    clock,
    async respond({ provider, body, headers }) {
      const key = headers.get('authorization') ?? ''
      const { stream } = JSON.parse(body)
      const delay = (stream ? streamMs : ms)[key] ?? (stream ? streamMs : ms)[provider] ?? 1
      if (delay === Number.POSITIVE_INFINITY) return json({}, 401)
      if (stream) return sse(slowly(clock, chatEvents(), delay))
      await clock.sleep(delay)
      return json(chatResponse())
    },
    ...options,
  })
  /** Sends `times` requests. Resolves to each one's target. */
  async function race(times: number, body: object = {}) {
    let isOver = false
    const requested = pool.sendAll(times, body).finally(() => {
      isOver = true
    })
    while (!isOver) await clock.advance(pool.upstream.open > 0 ? STEP : 0)
    return (await requested).split(' ')
  }
  return { ...pool, clock, race }
}

/** Asserts that most requests went to this provider. Only one in twenty tries another target. */
function assertMostly(seen: readonly string[], provider: string) {
  const { [provider]: count = 0 } = getCount(seen)
  assert.ok(count > 0.7 * seen.length, JSON.stringify(getCount(seen)))
}

test('each target is measured first, and then the fastest is used, or occasionally another one', async () => {
  const { race } = await openRace({ one: 800, two: 200, three: 500 })
  assert.is(new Set(await race(9)).size, 3)
  const seen = await race(300)
  assertMostly(seen, 'two')
  assert.ok(Object.keys(getCount(seen)).length > 1)
})

test('streams are measured by the time to their first event, separately from non-streaming responses', async () => {
  const { race } = await openRace({ one: 100, two: 600, three: 900 }, { streamMs: { one: 900, two: 600, three: 100 } })
  await race(9)
  assertMostly(await race(60), 'one')
  assert.is(new Set(await race(9, { stream: true })).size, 3)
  assertMostly(await race(60, { stream: true }), 'three')
  assertMostly(await race(60), 'one')
})

test('a target that becomes slow is replaced by the next one', async () => {
  const ms = { one: 200, two: 500, three: 900 }
  const { race } = await openRace(ms)
  await race(9)
  assertMostly(await race(60), 'one')
  ms.one = 3_000
  await race(10)
  assertMostly(await race(60), 'two')
})

test('least-latency skips a target in cooldown', async () => {
  const { world, down, race } = await openRace({ one: 200, two: 500, three: 900 })
  await race(9)
  down.set('one', 401)
  await world.chat({ model: 'one/m' })
  const seen = await race(100)
  assertMostly(seen, 'two')
  assert.is(seen.includes('one'), false)
})

test("a provider's latency is the latency of its next usable connection, not of a failing one", async () => {
  const connections = [{ provider: 'one', apiKey: 'swift' }, { provider: 'one', apiKey: 'slow' }, 'two']
  const ms: Record<string, number> = { 'Bearer swift': 200, 'Bearer slow': 900, two: 500 }
  const { race } = await openRace(ms, { connections }, ['one/m', 'two/m'])
  await race(9)
  assertMostly(await race(60), 'one')
  ms['Bearer swift'] = Number.POSITIVE_INFINITY
  await race(6)
  assertMostly(await race(60), 'two')
})

test("failed calls don't count toward the average latency", async () => {
  const { world, clock, down, race } = await openRace({ one: 200, two: 500, three: 900 })
  down.set('three', 500) // responds quickly
  await race(9)
  down.clear()
  await clock.advance(60_000)
  await race(9)
  const { targets } = await world.api.explain({ model: 'pool' })
  const why = targets.find(({ provider }) => provider === 'three')?.why ?? ''
  const [, ms] = /^pool: (\d+) ms on average/.exec(why) ?? []
  assert.ok(Number(ms) >= 900, `${why}: counting a failure would have lowered the average`)
})
