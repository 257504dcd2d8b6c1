import { setImmediate } from 'node:timers/promises'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createGateway } from '../../src/gateway.ts'
import type { Storage } from '../../src/types.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('many keys')

const open = (storage: Storage) => createGateway({ storage, logger: false, secret: 'many-keys-'.repeat(5) }).api.keys

const namesOf = async ({ list }: ReturnType<typeof open>) => (await list()).keys.map(({ name }) => name)

function counting(inner: Storage) {
  const counts = { list: 0, get: 0 }
  const storage: Storage = {
    ...inner,
    list: (...args) => {
      counts.list++
      return inner.list(...args)
    },
    get: (key) => {
      counts.get++
      return inner.get(key)
    },
  }
  return { storage, counts }
}

test('one more costs the same however many there are', async () => {
  const { storage, counts } = counting(memoryStorage())
  const keys = open(storage)
  await keys.create({ name: 'first' })
  const before = { ...counts }
  for (let made = 0; made < 50; made++) await keys.create({ name: String(made) })
  assert.equal({ list: counts.list - before.list, get: counts.get - before.get }, { list: 0, get: 50 })
  assert.equal(await namesOf(keys), ['first', ...Array.from({ length: 50 }, (_, made) => String(made))])
})

test('those made at once are each listed once, by whoever made them and by others', async () => {
  const storage = memoryStorage()
  const [here, elsewhere] = [open(storage), open(storage)]
  await Promise.all([namesOf(here), namesOf(elsewhere)])
  const names = Array.from({ length: 200 }, (_, made) => String(made))
  await Promise.all(names.map((name, at) => (at % 3 === 0 ? elsewhere : here).create({ name })))
  for (const keys of [here, elsewhere, open(storage)]) assert.equal((await namesOf(keys)).sort(), [...names].sort())
})

test('those made by turns in two gateways that hear of each other are listed in the order of creation', async () => {
  const storage = memoryStorage()
  const [here, elsewhere] = [open(storage), open(storage)]
  const names = Array.from({ length: 20 }, (_, made) => String(made))
  for (const [at, name] of names.entries()) await (at % 2 === 0 ? elsewhere : here).create({ name })
  for (const keys of [here, elsewhere, open(storage)]) assert.equal(await namesOf(keys), names)
})

test('a change elsewhere at any moment of an insertion is seen', async () => {
  const storage = memoryStorage()
  const [here, elsewhere] = [open(storage), open(storage)]
  for (let delay = 0; delay < 40; delay++) {
    const { id } = await elsewhere.create({ name: 'old' })
    await here.list()
    const making = here.create({ name: 'new' })
    for (let tick = 0; tick < delay; tick++) await null
    await Promise.all([making, elsewhere.update(id, { isActive: false })])
    await setImmediate()
    const { keys } = await here.list()
    assert.is(keys.length, 2 * delay + 2)
    assert.is(keys.find((key) => key.id === id)?.isActive, false, `after ${delay} ticks`)
  }
})

test('one whose writing failed is listed if it was written all the same', async () => {
  const inner = memoryStorage()
  let fails = false
  const storage: Storage = {
    ...inner,
    async set(...args) {
      const done = await inner.set(...args)
      if (fails) throw new Error('lost the answer')
      return done
    },
  }
  const keys = open(storage)
  await keys.create({ name: 'good' })
  fails = true
  await keys.create({ name: 'lost' }).then(
    () => assert.unreachable(),
    () => {},
  )
  fails = false
  assert.equal(await namesOf(keys), ['good', 'lost'])
  await keys.create({ name: 'next' })
  assert.equal(await namesOf(keys), ['good', 'lost', 'next'])
})
