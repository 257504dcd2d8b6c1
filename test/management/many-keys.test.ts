import { setImmediate as nextTurn } from 'node:timers'
import { setImmediate } from 'node:timers/promises'
import { fileStorage } from '../../adapters/storage/file.ts'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createGateway } from '../../src/gateway.ts'
import type { Storage } from '../../src/types.ts'
import { inFolder } from '../storage/support/folder.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('many keys')

const open = (storage: Storage) => createGateway({ storage, logger: false, secret: 'many-keys-'.repeat(5) }).api.keys

const listNames = async ({ list }: ReturnType<typeof open>) => (await list()).keys.map(({ name }) => name)

/**
 * Wraps a storage to count `get` calls and `list` calls for keys. Previous values of keys aren't counted, because they are few and listed only once.
 */
function counting(inner: Storage) {
  const counts = { list: 0, get: 0 }
  const storage: Storage = {
    ...inner,
    list: (...args) => {
      if (args[0].startsWith('keys/')) counts.list++
      return inner.list(...args)
    },
    get: (key) => {
      counts.get++
      return inner.get(key)
    },
  }
  return { storage, counts }
}

test('creating a key takes the same number of reads no matter how many keys exist', async () => {
  const { storage, counts } = counting(memoryStorage())
  const keys = open(storage)
  await keys.create({ name: 'first' })
  const before = { ...counts }
  for (let created = 0; created < 50; created++) await keys.create({ name: String(created) })
  assert.equal({ list: counts.list - before.list, get: counts.get - before.get }, { list: 0, get: 50 })
  assert.equal(await listNames(keys), ['first', ...Array.from({ length: 50 }, (_, created) => String(created))])
})

test('every process lists each of many concurrently created keys exactly once', async () => {
  const storage = memoryStorage()
  const [here, other] = [open(storage), open(storage)]
  await Promise.all([listNames(here), listNames(other)])
  const names = Array.from({ length: 200 }, (_, created) => String(created))
  await Promise.all(names.map((name, index) => (index % 3 === 0 ? other : here).create({ name })))
  for (const keys of [here, other, open(storage)]) assert.equal((await listNames(keys)).sort(), [...names].sort())
})

test('lists keys created alternately by two gateways on a watched storage in creation order', async () => {
  const storage = memoryStorage()
  const [here, other] = [open(storage), open(storage)]
  const names = Array.from({ length: 20 }, (_, created) => String(created))
  for (const [index, name] of names.entries()) await (index % 2 === 0 ? other : here).create({ name })
  for (const keys of [here, other, open(storage)]) assert.equal(await listNames(keys), names)
})

test("detects another process's change at any point while a key is created", async () => {
  const storage = memoryStorage()
  const [here, other] = [open(storage), open(storage)]
  for (let delay = 0; delay < 40; delay++) {
    const { id } = await other.create({ name: 'old' })
    await here.list()
    const making = here.create({ name: 'new' })
    await ticks(delay)
    await Promise.all([making, other.update(id, { isActive: false })])
    await setImmediate()
    const { keys } = await here.list()
    assert.is(keys.length, 2 * delay + 2)
    assert.is(keys.find((key) => key.id === id)?.isActive, false, `after ${delay} ticks`)
  }
})

test('lists a key whose write succeeded but reported an error', async () => {
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
  assert.equal(await listNames(keys), ['good', 'lost'])
  await keys.create({ name: 'next' })
  assert.equal(await listNames(keys), ['good', 'lost', 'next'])
})

test('pausing, renaming, and deleting a key reads no other keys if the storage reports changes', async () => {
  await inFolder(async (path) => {
    const { storage, counts } = counting(fileStorage({ path, logger: false }))
    const other = fileStorage({ path, logger: false })
    const keys = open(storage)
    const ids: string[] = []
    for (let created = 0; created < 5; created++) ids.push((await keys.create({ name: String(created) })).id)
    const before = counts.list
    await keys.update(ids[1] ?? '', { isActive: false })
    await keys.update(ids[2] ?? '', { name: 'renamed' })
    await keys.delete(ids[3] ?? '')
    await keys.create({ name: 'new' })
    const listed = (await keys.list()).keys
    assert.is(counts.list, before)
    assert.equal(
      listed.map(({ name, isActive }) => `${name} ${isActive}`),
      ['0 true', '1 false', 'renamed true', '4 true', 'new true'],
    )
    assert.equal(listed, (await open(other).list()).keys)
    await Promise.all([storage.close?.(), other.close?.()])
  })
})

test("detects another process's change at any point while a key is updated", async () => {
  for (const late of [
    { list: 90, write: 30 },
    { list: 5, write: 120 },
  ]) {
    const [here, otherInstance] = sides(memoryStorage(), late).map(open)
    if (!here || !otherInstance) return assert.unreachable()
    const { id } = await here.create({ name: 'one' })
    const { id: other } = await here.create({ name: 'other' })
    for (let delay = 0; delay < 90; delay += 3) {
      await Promise.all([here.list(), otherInstance.list()])
      const name = `after ${delay} ticks`
      const changing = [here.update(id, { name })]
      await ticks(delay)
      changing.push(otherInstance.update(delay % 2 ? id : other, { isActive: delay % 4 < 2 }))
      const listing: Array<Promise<unknown>> = []
      for (let time = 0; time < 30; time++) {
        await ticks(5)
        listing.push(here.list())
      }
      await Promise.all([...changing, ...listing])
      await setImmediate()
      assert.equal(await here.list(), await otherInstance.list(), name)
    }
  }
})

test('reading many keys yields to other work', async () => {
  const storage = memoryStorage()
  const keys = open(storage)
  const { id } = await keys.create({ name: 'one' })
  await keys.get(id)
  const copy = (await storage.list('keys/'))[0]?.value ?? ''
  for (let created = 0; created < 5_000; created++)
    await storage.set(`keys/${created}`, copy.replace(id, `copy-${created}`))
  assert.ok(
    (await turnsDuring(() => keys.get('unknown').catch(() => {}))) >= 8,
    'reads all keys twice, a thousand at a time',
  )
})

test('listing many keys yields to other work', async () => {
  const keys = open(memoryStorage())
  await Promise.all(Array.from({ length: 640 }, (_, created) => keys.create({ name: String(created) })))
  await keys.list()
  assert.ok((await turnsDuring(() => keys.list())) >= 4)
})

test('streams many keys over HTTP, with the same result as in process', async () => {
  const management = { dangerouslyAllowUnauthenticated: true } as const
  const gateway = createGateway({ storage: memoryStorage(), logger: false, management })
  for (const count of [0, 1, 499, 1, 499, 1]) {
    await Promise.all(
      Array.from({ length: count }, (_, created) => gateway.api.keys.create({ name: `"${created}" ä` })),
    )
    const { body } = await gateway.fetch(new Request('http://gateway/api/keys'))
    const pieces: string[] = []
    for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) pieces.push(piece)
    const { keys } = await gateway.api.keys.list()
    assert.is(pieces.join(''), JSON.stringify({ keys }))
    assert.is(pieces.length, Math.max(1, Math.ceil(keys.length / 500)))
  }
})

async function turnsDuring(action: () => Promise<unknown>): Promise<number> {
  let turns = 0
  let isDone = false
  const count = () => {
    turns++
    if (!isDone) nextTurn(count)
  }
  nextTurn(count)
  await action()
  isDone = true
  return turns
}

/** Creates two views of one storage that report each other's changes, as if in two processes. The first view receives its results late. */
function sides(inner: Storage, late: { list: number; write: number }): Storage[] {
  const listeners: Array<(key: string) => void> = []
  return [0, 1].map((side) => {
    const recordChange = async <T>(key: string, change: Promise<T>) => {
      const result = await change
      queueMicrotask(() => listeners[1 - side]?.(key))
      if (side === 0) await ticks(late.write)
      return result
    }
    return {
      ...inner,
      set: (key, value, options) => recordChange(key, inner.set(key, value, options)),
      delete: (key, options) => recordChange(key, inner.delete(key, options)),
      list: async (...args) => {
        const listed = await inner.list(...args)
        if (side === 0) await ticks(late.list)
        return listed
      },
      get: async (key) => {
        const stored = await inner.get(key)
        if (side === 0) await ticks(20)
        return stored
      },
      watch(onChange) {
        listeners[side] = onChange
        return () => {}
      },
    }
  })
}

async function ticks(count: number): Promise<void> {
  for (let tick = 0; tick < count; tick++) await null
}
