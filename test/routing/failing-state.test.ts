import { memoryStorage } from '../../adapters/storage/memory.ts'
import type { Storage } from '../../src/types.ts'
import { fakeClock } from '../support/clock.ts'
import { assert, suite } from '../support/suite.ts'
import { openPool } from './support/pool.ts'

const test = suite('routing state on a failing storage')

const turns = { models: ['one/m', 'two/m', 'three/m'], strategy: 'round-robin' as const }

type Failing = Pick<Storage, 'get' | 'set' | 'delete'>

/** Creates a store whose methods in `broken` fail for routing state, and counts those calls. */
function failingStorage(how: (method: string) => Promise<never>) {
  const clock = fakeClock()
  const inner = memoryStorage({ clock })
  const broken = new Set<keyof Failing>()
  let calls = 0

  function fails(method: keyof Failing, key: string) {
    if (!key.startsWith('routing/') || !broken.has(method)) return false
    calls += 1
    return true
  }

  const storage: Storage = {
    ...inner,
    get: (key) => (fails('get', key) ? how('get') : inner.get(key)),
    set: (key, ...rest) => (fails('set', key) ? how('set') : inner.set(key, ...rest)),
    delete: (key, ...rest) => (fails('delete', key) ? how('delete') : inner.delete(key, ...rest)),
  }
  return { storage, clock, broken, calls: () => calls }
}

const rejects = (method: string) => Promise.reject(new Error(`${method} failed`))
const throws = (method: string) => {
  throw new Error(`${method} failed`)
}

for (const [way, how] of Object.entries({ rejects, throws })) {
  for (const methods of [['get'], ['set'], ['get', 'set', 'delete']] as const) {
    test(`if the storage ${way} on ${methods.join(', ')}, each instance keeps its own round-robin position, and onError gets the error`, async () => {
      const { storage, clock, broken, calls } = failingStorage(how)
      const { world, sendAll } = await openPool(turns, { storage, clock })
      for (const method of methods) broken.add(method)
      assert.is(await sendAll(6), 'one two three one two three')
      assert.is(calls(), 1, 'the storage is not called again for a while')
      assert.equal(
        world.recorded.errors.map((error) => (error instanceof Error ? error.message : error)),
        [`${methods[0]} failed`],
      )
      for (const { status } of world.recorded.requests) assert.is(status, 200)
    })
  }
}

test('a storage that failed is used again after a second, and instances share round-robin positions again', async () => {
  const { storage, clock, broken } = failingStorage(rejects)
  const { world, sendAll } = await openPool(turns, { storage, clock })
  assert.is(await sendAll(1), 'one')
  broken.add('set')
  assert.is(await sendAll(2), 'two three')
  await clock.advance(1_000)
  await sendAll(1)
  assert.is(world.recorded.errors.length, 2)
  broken.clear()
  await clock.advance(1_000)
  assert.is(await sendAll(2), 'two three', 'continues from the stored position')
  assert.ok((await storage.list('routing/')).length > 0)
})

test('moved sessions stay moved on the same instance while the storage fails', async () => {
  const { storage, clock, broken } = failingStorage(rejects)
  const { world, down, sendAll } = await openPool(
    { models: ['one/m', 'two/m'], strategy: 'sticky' },
    { storage, clock },
  )
  const body = { user: 'somebody' }
  const home = await sendAll(1, body)
  for (const method of ['get', 'set', 'delete'] as const) broken.add(method)
  down.set(home, 500)
  const other = home === 'one' ? 'two' : 'one'
  assert.is(await sendAll(1, body), `${home}>${other}`)
  down.clear()
  assert.is(await sendAll(2, body), `${other} ${other}`)
  for (const { status } of world.recorded.requests) assert.is(status, 200)
})

test("a combo can be updated and deleted while its round-robin position can't be stored", async () => {
  const { storage, clock, broken } = failingStorage(rejects)
  const { world, sendAll } = await openPool(turns, { storage, clock })
  for (const method of ['get', 'set', 'delete'] as const) broken.add(method)
  assert.is(await sendAll(2), 'one two')
  const id = (await world.api.combos.list()).combos[0]?.id ?? ''
  await world.api.combos.update(id, {})
  assert.is(await sendAll(2), 'one two')
  assert.equal(await world.api.combos.delete(id), { success: true })
})
