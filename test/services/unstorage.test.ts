import { readdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import process from 'node:process'
import { type Unstorage, unstorageStorage } from '../../adapters/storage/unstorage.ts'
import { type StorageSubject, storageConformance } from '../conformance/storage.ts'
import { temporaryFolder } from '../storage/support/folder.ts'
import { assert, suite } from '../support/suite.ts'
import { findRedis } from './redis-server.ts'

type Opened = Unstorage & { dispose(): Promise<void> }

const require = createRequire(import.meta.url)
const { createStorage } = require('unstorage') as { createStorage(options: { driver: unknown }): Opened }
const open = (driver: string, options: object) =>
  createStorage({ driver: require(`unstorage/drivers/${driver}`)(options) })
const { createDatabase } = (await import('db0' as string)) as { createDatabase(connector: unknown): object }
const { default: sqlite } = await import('db0/connectors/node-sqlite' as string)

const server = await findRedis()
const { path: root, remove } = await temporaryFolder()
let stores = 0
const next = () => `store-${process.pid}-${++stores}`

function conformance(driver: string, openStorage: (name: string) => Opened, canReopen = true): void {
  storageConformance(`unstorage with the driver ${driver}`, {
    atomic: false,
    has: [],
    create({ clock }): StorageSubject {
      const name = next()
      const opened: Opened[] = []
      const open = () => {
        const storage = (canReopen ? undefined : opened[0]) ?? openStorage(name)
        opened.push(storage)
        return unstorageStorage(storage, { clock })
      }
      return {
        storage: open(),
        reopen: open,
        destroy: async () => void (await Promise.all(opened.map((storage) => storage.dispose()))),
      }
    },
  })
}

conformance('memory', () => open('memory', {}), false)
conformance('fs', (name) => open('fs', { base: join(root, name) }))
conformance('fs-lite', (name) => open('fs-lite', { base: join(root, name) }))
conformance('redis', (base) => open('redis', { base, url: server.url }))
conformance('db0', (name) => open('db0', { database: createDatabase(sqlite({ path: join(root, `${name}.db`) })) }))

const test = suite('the unstorage adapter')

test.after(async () => {
  await server.remove()
  await remove()
})

test('unstorage adapter: each key is a file below the base, with short lowercase path segments', async () => {
  const folder = join(root, next())
  const storage = unstorageStorage(open('fs', { base: folder }), { base: 'app:ai', longestKeyBytes: 1_000 })
  const keys = [
    'keys',
    'keys/1',
    'Keys/1',
    '../up',
    'a?b',
    'a:b',
    'a::b',
    'k$',
    'é'.repeat(500),
    'n/'.repeat(400),
  ].sort()
  for (const key of keys) await storage.set(key, key)
  const listed = await storage.list('')
  assert.equal(
    listed.map(({ key, value }) => [key, value]),
    keys.map((key) => [key, key]),
  )
  const paths = (await readdir(join(folder, 'app', 'ai'), { recursive: true })).map((path) => path.split('/'))
  for (const names of paths) for (const name of names) assert.match(name, /^[a-z\d_-]{1,201}$/)
  assert.is((await readFile(join(folder, 'app/ai/keys'), 'utf8')).includes('"value":"keys"'), true)
})

test('unstorage adapter: a partially written value is read again', async () => {
  const opened = open('memory', {})
  const found: unknown[] = []
  const getItem = (key: string) => Promise.resolve(found.length > 0 ? found.shift() : opened.getItem(key))
  const storage = unstorageStorage({ ...opened, getItem })
  const version = await storage.set('key', 'value')
  found.push('', '{"value":"val')
  assert.equal(await storage.get('key'), { value: 'value', version })
  found.push('', '{"value":"val')
  assert.equal(await storage.list(''), [{ key: 'key', value: 'value', version }])
  assert.is(found.length, 0)
})

test('unstorage adapter: a damaged entry is returned as is until it is replaced or removed', async () => {
  const folder = join(root, next())
  const storage = unstorageStorage(open('fs', { base: folder }))
  const version = await storage.set('whole', 'value')
  for (const text of ['', '{"value":"val', '{"value":1}', '5']) {
    await storage.set('key', 'value')
    await writeFile(join(folder, 'signalbox', 'key'), text)
    const damaged = await storage.get('key')
    assert.is(damaged?.value, text)
    assert.equal(await storage.list(''), [
      { key: 'key', ...damaged },
      { key: 'whole', value: 'value', version },
    ])
    assert.is(await storage.set('key', 'new', { ifVersion: null }), false)
    assert.type(await storage.set('key', 'new', { ifVersion: damaged?.version ?? null }), 'string')
    await writeFile(join(folder, 'signalbox', 'key'), text)
    assert.is(await storage.delete('key'), true)
    assert.is(await storage.get('key'), undefined)
  }
})

test('unstorage adapter: only one of many concurrent writers on one storage object creates a key', async () => {
  const storage = unstorageStorage(open('fs', { base: join(root, next()) }))
  const tries = Array.from({ length: 20 }, (_, index) => storage.set('key', `${index}`, { ifVersion: null }))
  assert.is((await Promise.all(tries)).filter((result) => result !== false).length, 1)
})

test("unstorage adapter: a failing driver's error contains its name, but no value", async () => {
  const opened = open('memory', {})
  const setItem = () => Promise.reject(Object.assign(new Error('the disk is full'), { args: ['the secret'] }))
  const error = await getError(() => unstorageStorage({ ...opened, setItem }).set('key', 'the secret'))
  assert.is(error.code, 'STORAGE_UNREACHABLE')
  assert.match(error.message, /the disk is full/)
  assert.not.ok('cause' in error)
  const storage = unstorageStorage(opened)
  await storage.set('key', 'value')
  await storage.close?.()
  assert.is((await getError(() => storage.get('key'))).code, 'STORAGE_CLOSED')
  assert.is((await unstorageStorage(opened).get('key'))?.value, 'value')
})

test('unstorage adapter: a hanging driver call is abandoned after four seconds', {
  timeoutMs: 30_000,
}, async () => {
  const opened = open('memory', {})
  let isHanging = true
  const getItem = (key: string) => (isHanging ? new Promise<never>(() => {}) : opened.getItem(key))
  const storage = unstorageStorage({ ...opened, getItem })
  await storage.set('key', 'value')
  const startedAt = performance.now()
  const error = getError(() => storage.get('key'))
  const later = storage.set('key', 'later')
  assert.is((await error).code, 'STORAGE_UNREACHABLE')
  assert.ok(performance.now() - startedAt >= 3_900)
  await later
  isHanging = false
  assert.is((await storage.get('key'))?.value, 'later')
})

test('unstorage adapter: invalid storages and options are rejected', () => {
  assert.throws(() => Reflect.apply(unstorageStorage, undefined, []), /unstorageStorage takes a storage/)
  for (const base of ['', 'A', 'a:', 'a/b']) assert.throws(() => unstorageStorage(open('memory', {}), { base }), /base/)
  assert.throws(() => Reflect.apply(unstorageStorage, undefined, [open('memory', {}), { prefix: 'a' }]), /prefix/)
})

async function getError(action: () => Promise<unknown>): Promise<{ code?: string; message: string }> {
  return action().then(
    () => ({ message: 'was not refused' }),
    (error: { code?: string; message: string }) => error,
  )
}
