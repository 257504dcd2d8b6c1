import { DatabaseSync } from 'node:sqlite'
import { sqliteStorage } from '../../adapters/storage/sqlite.ts'
import { storageConformance } from '../conformance/storage.ts'
import { assert, suite } from '../support/suite.ts'
import { temporaryFolder } from './support/folder.ts'

storageConformance('node:sqlite', {
  has: ['increment', 'watch'],
  async create({ clock }) {
    const { path, remove } = await temporaryFolder()
    const databases: DatabaseSync[] = []
    const open = () => {
      const database = new DatabaseSync(`${path}/store.db`)
      database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF')
      databases.push(database)
      return sqliteStorage(database, { clock, pollMs: 5 })
    }
    return {
      storage: open(),
      reopen: open,
      destroy: async () => {
        for (const database of databases) database.close()
        await remove()
      },
    }
  },
})

const test = suite('SQLite as a storage')

test('a database that is locked is waited for, and a write that had to wait is made once', async () => {
  const { path, remove } = await temporaryFolder()
  const [one, two] = [new DatabaseSync(`${path}/store.db`), new DatabaseSync(`${path}/store.db`)]
  const storage = sqliteStorage(one)
  await storage.set('count', '1')
  two.exec('BEGIN IMMEDIATE')
  const sum = storage.increment?.('count', 1)
  await new Promise((resolve) => setTimeout(resolve, 50))
  two.exec('COMMIT')
  assert.is(await sum, 2)
  await storage.close?.()
  for (const database of [one, two]) database.close()
  await remove()
})

test('close leaves the database of the host open, and a database that was closed is an error with a name', async () => {
  const database = new DatabaseSync(':memory:')
  const storage = sqliteStorage(database)
  await storage.set('key', 'value')
  await storage.close?.()
  assert.is(database.prepare('SELECT count(*) AS count FROM signalbox_records').get()?.count, 1)
  const later = sqliteStorage(database)
  database.close()
  const error: { code?: string; message?: string } = await later.get('key').then(
    () => ({}),
    (thrown) => thrown,
  )
  assert.is(error.code, 'STORAGE_UNREADABLE')
  assert.match(error.message ?? '', /Check that it is open/)
})

test('options that cannot work are refused with what to pass', () => {
  const makes =
    (...args: unknown[]) =>
    () =>
      Reflect.apply(sqliteStorage, undefined, args)
  assert.throws(makes(), /sqliteStorage takes a database of node:sqlite/)
  assert.throws(makes({}), /sqliteStorage takes a database of node:sqlite/)
  assert.throws(makes(new DatabaseSync(':memory:'), { table: 'A' }), /table must be a name in lower case/)
})
