import { memoryStorage } from '../../adapters/storage/memory.ts'
import { isGatewayError } from '../../src/errors.ts'
import { createGateway } from '../../src/gateway.ts'
import type { Clock, Storage } from '../../src/types.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('finding a key by id')

const secret = 'key-by-id-'.repeat(5)
const open = (storage: Storage) => createGateway({ storage, logger: false, secret }).api.keys

test("finds a key by id without reading other keys, even if the storage doesn't report changes", async () => {
  const { watch: _, ...silent } = memoryStorage()
  const reads: string[] = []
  const storage: Storage = {
    ...silent,
    get: (key) => {
      reads.push('get')
      return silent.get(key)
    },
    list: (...args) => {
      reads.push('list')
      return silent.list(...args)
    },
  }
  let now = 0
  const clock: Clock = { now: () => now, sleep: () => new Promise(() => {}) }
  const keys = createGateway({ storage, clock, logger: false, secret }).api.keys
  const { id: old } = await open(silent).create({ name: 'old' })
  const { id: created } = await keys.create({ name: 'made here' })
  await keys.get(old)
  for (const id of [old, created]) {
    reads.length = 0
    now += 10_000
    assert.is((await keys.get(id)).key.id, id)
    assert.equal(reads, ['get'])
  }
  await keys.delete(created)
  reads.length = 0
  await keys.get(created).catch(() => {})
  assert.not.ok(reads.includes('get'), 'a deleted key is not cached')
})

test('finds a key by id even if its record has moved in the storage', async () => {
  const storage = memoryStorage()
  const [here, other] = [open(storage), open(storage)]
  const { id } = await here.create({ name: 'one' })
  const [stored] = await storage.list('keys/')
  assert.is((await here.get(id)).key.name, 'one')

  await storage.set('keys/other', stored?.value ?? '')
  await storage.delete(stored?.key ?? '')
  assert.is((await here.get(id)).key.name, 'one', 'moved')
  assert.is((await here.update(id, { name: 'renamed', isActive: true })).key.name, 'renamed')

  const { id: next } = await other.create({ name: 'next' })
  await storage.set('keys/other', (await storage.list('keys/', { after: 'keys/' }))[0]?.value ?? '')
  assert.is((await here.get(next)).key.name, 'next', 'another record is in its place')

  await other.delete(next)
  await storage.delete('keys/other')
  for (const gone of [id, next]) {
    const error = await here.get(gone).catch((error: unknown) => error)
    assert.ok(isGatewayError(error, 'NOT_FOUND'))
  }
})
