import { memoryStorage } from '../../adapters/storage/memory.ts'
import type { Storage } from '../../src/types.ts'
import { chatResponse } from '../pipeline/support/responses.ts'
import { json } from '../pipeline/support/upstream.ts'
import { type FakeClock, fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { getCount, joinPool, openPool, type Pool } from './support/pool.ts'

const test = suite('sharing load and latency between instances')

const busy = { models: ['one/m', 'two/m'], strategy: 'least-busy' as const }
const fastest = { models: ['one/m', 'two/m', 'three/m'], strategy: 'least-latency' as const }

/** The maximum age of the data that instances have about each other, in ms. */
const NEWS = 100

type Instance = Pick<Pool, 'world' | 'sendAll'>

interface TwoOptions {
  clock?: FakeClock
  storage?: Storage
  sharedState?: boolean
  /** Each provider's latency, in ms. */
  ms?: Record<string, number>
}

async function openTwo(combo: typeof busy | typeof fastest, options: TwoOptions = {}) {
  const { clock = fakeClock(), ms = {}, ...extra } = options
  const storage = options.storage ?? memoryStorage({ clock })
  let isHeld = false
  const held: Array<() => void> = []
  const first = await openPool(combo, {
    ...extra,
    clock,
    storage,
    limits: { headersTimeoutMs: 1e9, idleTimeoutMs: 1e9, totalTimeoutMs: 1e9 },
    async respond({ provider }) {
      if (isHeld) await new Promise<void>((resolve) => held.push(resolve))
      await clock.sleep(ms[provider] ?? 0)
      return json(chatResponse())
    },
  })
  const second = await joinPool(first, { ...extra, storage })

  /** Starts a request that gets its response when `release` is called. Returns its target. */
  async function hold({ world }: Instance) {
    const { calls } = first.upstream
    const before = calls.length
    isHeld = true
    void world.chat({ model: 'pool' })
    while (calls.length === before) await clock.advance(0)
    isHeld = false
    return calls[before]?.provider
  }

  async function release() {
    for (const end of held.splice(0)) end()
    await clock.advance(NEWS)
  }

  /** Sends `times` requests one by one. Resolves to each one's target. */
  async function race({ sendAll }: Instance, times: number) {
    let isOver = false
    const pending = sendAll(times).finally(() => {
      isOver = true
    })
    while (!isOver) await clock.advance(first.upstream.open > 0 ? 50 : 0)
    return (await pending).split(' ')
  }

  return { first, second, clock, storage, hold, release, race }
}

const listPublished = (storage: Storage) => storage.list('routing/measures/')

test("an instance's load counts on other instances until its requests end", async () => {
  const { first, second, clock, hold, release } = await openTwo(busy)
  assert.is(await hold(first), 'one')
  assert.is(await second.sendAll(2), 'two two')
  assert.is(await hold(second), 'two')
  await clock.advance(NEWS)
  assert.is(await hold(first), 'one', 'each target has one waiting request')
  await clock.advance(NEWS)
  assert.is(await second.sendAll(1), 'two', 'the other target has two waiting requests')
  await release()
  assert.is(await second.sendAll(1), 'one')
})

test('long streams count as load until they end', async () => {
  const { first, second, clock, hold, release } = await openTwo(busy)
  await hold(first)
  for (let minute = 0; minute < 30; minute++) await clock.advance(60_000)
  assert.is(await second.sendAll(1), 'two')
  await release()
  assert.is(await second.sendAll(1), 'one')
})

test("a killed instance's load counts for a minute", async () => {
  const clock = fakeClock()
  const { first, second, hold, storage } = await openTwo(busy, { clock })
  await hold(first)
  await storage.set('routing/measures/lost', (await listPublished(storage))[0]?.value ?? '')
  assert.is((await listPublished(storage)).length, 2)
  await first.world.gateway.close({ graceMs: 0 })
  assert.is((await listPublished(storage)).length, 1, 'a closed instance removes its publication')
  await clock.advance(NEWS)
  assert.is(await second.sendAll(1), 'two')
  await clock.advance(60_000)
  assert.is(await second.sendAll(1), 'one')
})

test('an instance without measurements uses the measurements of other instances', async () => {
  const { first, second, clock, race } = await openTwo(fastest, { ms: { one: 900, two: 200, three: 500 } })
  assert.is(new Set(await race(first, 12)).size, 3)
  await clock.advance(NEWS)
  const { targets } = await second.world.api.explain({ model: 'pool' })
  assert.equal(targets.map(({ provider, why }) => `${provider} ${/\d+ ms on average/.exec(why)}`).sort(), [
    'one 900 ms on average',
    'three 500 ms on average',
    'two 200 ms on average',
  ])
  const { two = 0 } = getCount(await race(second, 40))
  assert.ok(two > 28, 'except for requests that try another target')
})

test('if instances measure different values, their mean is used', async () => {
  const ms = { one: 300, two: 400, three: 900 }
  const { first, second, clock, race } = await openTwo(fastest, { ms })
  await race(first, 12)
  await race(second, 12)
  await clock.advance(NEWS)
  ms.one = 3_000
  for (let time = 0; time < 3; time++) {
    await race(second, 10)
    await clock.advance(NEWS)
  }
  const { two = 0 } = getCount(await race(first, 40))
  assert.ok(two > 28, 'the first instance never measured the slowdown itself')
})

test('an instance publishes zero load once its requests have ended', async () => {
  const { first, second, clock, race } = await openTwo(fastest, { ms: { one: 50 } })
  await first.world.api.combos.create({ name: 'busy', ...busy })
  assert.equal(await race(first, 1), ['one'])
  await clock.advance(NEWS)
  const { targets } = await second.world.api.explain({ model: 'busy' })
  assert.equal(
    targets.map(({ provider, why }) => `${provider} ${why}`),
    ['one busy: 0 requests in flight', 'two busy: 0 requests in flight'],
  )
  assert.is(clock.pending(), 0, 'there is nothing more to publish')
})

test('with `sharedState: false`, each instance uses local measurements, and publishes nothing', async () => {
  const { first, second, hold, storage } = await openTwo(busy, { sharedState: false })
  await hold(first)
  assert.is(await second.sendAll(1), 'one')
  assert.equal(await listPublished(storage), [])
})

test('measurements are published only for targets with a strategy that uses them', async () => {
  const { first, storage, hold } = await openTwo(busy)
  await first.world.chat({ model: 'one/m' })
  assert.equal(await listPublished(storage), [])
  await first.world.api.explain({ model: 'pool' })
  assert.equal(await listPublished(storage), [], 'explaining publishes nothing either')
  await hold(first)
  const [{ value = '' } = {}] = await listPublished(storage)
  assert.equal(Object.keys(JSON.parse(value).targets).length, 2)
})

for (const rubbish of ['', 'null', '{"at":1}', '{"at":"x","targets":{}}', '{"at":1e15,"targets":{"a b":7,"c d":null}}'])
  test(`malformed measurements from another instance are ignored: ${rubbish || 'an empty string'}`, async () => {
    const { first, storage } = await openTwo(busy)
    await storage.set('routing/measures/other', rubbish)
    assert.is(await first.sendAll(2), 'one one')
    assert.equal(first.world.recorded.errors, [])
  })

test('each instance uses local measurements while the storage fails, and onError gets the error', async () => {
  const clock = fakeClock()
  const inner = memoryStorage({ clock })
  const fails = (key: string) => key.startsWith('routing/') && Promise.reject(new Error('down'))
  const storage: Storage = {
    ...inner,
    set: async (key, ...rest) => (await fails(key)) || inner.set(key, ...rest),
    list: async (key, ...rest) => (await fails(key)) || inner.list(key, ...rest),
  }
  const { first, hold } = await openTwo(busy, { clock, storage })
  assert.is(await hold(first), 'one')
  assert.is(await first.sendAll(2), 'two two')
  assert.is(first.world.recorded.errors.length, 1, 'the storage is not called again for a while')
})
