import { fileStorage } from '../../adapters/storage/file.ts'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import type { Storage } from '../../src/types.ts'
import { inFolder } from '../storage/support/folder.ts'
import { type FakeClock, fakeClock } from '../support/clock.ts'
import { createRandom } from '../support/random.ts'
import { assert, suite } from '../support/suite.ts'
import { getCount, joinPool, openPool, type Pool } from './support/pool.ts'

const test = suite('sharing round-robin positions between instances')

const turns = { models: ['one/m', 'two/m', 'three/m'], strategy: 'round-robin' as const }

/** Creates a store whose reads and writes of routing state take up to 4 ms, as over a network. `lost` counts lost races. */
function slowStorage(clock: FakeClock, seed: number): Storage & { lost: number } {
  const inner = memoryStorage({ clock })
  const random = createRandom(seed)
  const delay = async (key: string) => key.startsWith('routing/') && (await clock.sleep(Math.ceil(random.next() * 4)))
  const slow: Storage & { lost: number } = {
    ...inner,
    lost: 0,
    async get(key) {
      await delay(key)
      const found = await inner.get(key)
      await delay(key)
      return found
    },
    async set(key, value, options) {
      await delay(key)
      const version = await inner.set(key, value, options)
      if (version === false) slow.lost += 1
      await delay(key)
      return version
    },
  }
  return slow
}

/** Advances the clock until the work is done. */
async function advanceUntil<T>(clock: FakeClock, promise: Promise<T>): Promise<T> {
  let isOver = false
  const settled = promise.finally(() => {
    isOver = true
  })
  while (!isOver) await clock.advance(1)
  return settled
}

test('two instances on one storage take turns, regardless of which one gets the request', async () => {
  const storage = memoryStorage()
  const first = await openPool(turns, { storage })
  const second = await joinPool(first, { storage })
  assert.is(await first.sendAll(2), 'one two')
  assert.is(await second.sendAll(2), 'three one')
  assert.is(await first.sendAll(1), 'two')
  assert.is(await second.sendAll(1), 'three')
  const random = createRandom(1)
  for (let time = 0; time < 60; time++) {
    const either = random.next() < 0.5 ? first : second
    assert.is(await either.sendAll(1), ['one', 'two', 'three'][time % 3])
  }
})

test('two instances take turns evenly, even if each one falls back to another target', async () => {
  const storage = memoryStorage()
  const first = await openPool(turns, { storage })
  const second = await joinPool(first, { storage })
  first.down.set('two', 500)
  assert.is(await first.sendAll(2), 'one two>three')
  assert.is(await second.sendAll(2), 'one two>three')
  assert.is(await first.sendAll(1), 'one')
})

test('three instances with frequent write conflicts share turns exactly evenly', async () => {
  const clock = fakeClock()
  const storage = slowStorage(clock, 7)
  const first = await advanceUntil(clock, openPool(turns, { storage, clock }))
  const others = [await joinPool(first, { storage }), await joinPool(first, { storage })]
  const chats = [first, ...others].flatMap(({ world }) =>
    Array.from({ length: 400 }, async (_, index) => {
      await clock.sleep(index * 3)
      await world.chat({ model: 'pool' })
    }),
  )
  await advanceUntil(clock, Promise.all(chats))
  assert.ok(storage.lost > 200, `${storage.lost} races`)
  assert.equal(getCount(first.upstream.providers), { one: 400, two: 400, three: 400 })
})

test('every instance starts over at the first model after a combo is updated, or deleted and recreated', async () => {
  const storage = memoryStorage()
  const first = await openPool(turns, { storage })
  const second = await joinPool(first, { storage })
  assert.is(`${await first.sendAll(1)} ${await second.sendAll(1)}`, 'one two')
  const id = (await first.world.api.combos.list()).combos[0]?.id ?? ''
  await first.world.api.combos.update(id, {})
  assert.is(`${await second.sendAll(1)} ${await first.sendAll(1)}`, 'one two')
  await second.world.api.combos.delete(id)
  await first.world.api.combos.create({ name: 'pool', ...turns })
  assert.is(`${await second.sendAll(1)} ${await first.sendAll(1)}`, 'one two')
})

test('a recreated combo starts at its first model, even if an instance kept using the deleted one', async () => {
  const { watch: _, ...storage } = memoryStorage() // so other instances see a change late
  const first = await openPool(turns, { storage })
  const second = await joinPool(first, { storage })
  assert.is(`${await first.sendAll(1)} ${await second.sendAll(1)}`, 'one two')
  const id = (await second.world.api.combos.list()).combos[0]?.id ?? ''
  await second.world.api.combos.delete(id)
  assert.is(await first.sendAll(2), 'one two', 'it still uses the deleted combo')
  await second.world.api.combos.create({ name: 'pool', ...turns })
  assert.is(`${await second.sendAll(1)} ${await first.sendAll(1)}`, 'one two')
})

test('two instances with the same data folder take turns', () =>
  inFolder(async (path) => {
    const open = () => fileStorage({ path, logger: false })
    const storages = [open(), open()] as const
    const first = await openPool(turns, { storage: storages[0] })
    const second = await joinPool(first, { storage: storages[1] })
    assert.is(`${await first.sendAll(1)} ${await second.sendAll(1)} ${await first.sendAll(1)}`, 'one two three')
    const many = ({ world }: Pick<Pool, 'world'>) => Array.from({ length: 30 }, () => world.chat({ model: 'pool' }))
    await Promise.all([...many(first), ...many(second)])
    assert.equal(getCount(first.upstream.providers), { one: 21, two: 21, three: 21 })
    for (const { gateway } of [first.world, second.world]) await gateway.close()
    for (const storage of storages) await storage.close?.()
  }))

for (const [label, options] of [
  ['the storage is not atomic', { storage: { ...memoryStorage(), atomic: false } }],
  ['"sharedState" is false', { storage: memoryStorage(), sharedState: false }],
] as const) {
  test(`if ${label}, each instance keeps its own round-robin position, and nothing is written`, async () => {
    const first = await openPool(turns, options)
    const second = await joinPool(first, options)
    assert.is(
      `${await first.sendAll(2)} | ${await second.sendAll(3)} | ${await first.sendAll(2)}`,
      'one two | one two three | three one',
    )
    assert.equal(await options.storage.list('routing/'), [])
  })
}
