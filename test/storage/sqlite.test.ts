import { DatabaseSync } from 'node:sqlite'
import { openNumberedTable } from '../../adapters/storage/sqlite/numbered-table.ts'
import { LocalEngine } from '../../adapters/storage/sqlite/sqlite-engine.ts'
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

const test = suite('SQLite storage')

test('a write waits for a locked database, and is applied once', async () => {
  const { path, remove } = await temporaryFolder()
  const [first, two] = [new DatabaseSync(`${path}/store.db`), new DatabaseSync(`${path}/store.db`)]
  const storage = sqliteStorage(first)
  await storage.set('count', '1')
  two.exec('BEGIN IMMEDIATE')
  const sum = storage.increment?.('count', 1)
  await new Promise((resolve) => setTimeout(resolve, 50))
  two.exec('COMMIT')
  assert.is(await sum, 2)
  await storage.close?.()
  for (const database of [first, two]) database.close()
  await remove()
})

test("close leaves the app's database open, and a closed database causes an error with a code", async () => {
  const database = new DatabaseSync(':memory:')
  const storage = sqliteStorage(database)
  await storage.set('key', 'value')
  await storage.close?.()
  assert.is(database.prepare('SELECT count(*) AS count FROM signalbox_records').get()?.count, 1)
  const later = sqliteStorage(database)
  database.close()
  const error: { code?: string; message?: string } = await later.get('key').then(
    () => ({}),
    (error) => error,
  )
  assert.is(error.code, 'STORAGE_UNREADABLE')
  assert.match(error.message ?? '', /Check that it is open/)
})

const pragma = (database: DatabaseSync, name: string) =>
  Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0]

test("the store sets its pragmas on the app's database unless the app has set or disabled them", async () => {
  const { path, remove } = await temporaryFolder()
  const names = ['journal_mode', 'synchronous', 'busy_timeout']
  const cases: Array<[set: string, options: { pragmas?: boolean }, after: unknown[]]> = [
    ['', {}, ['wal', 1, 2]],
    ['PRAGMA journal_mode = WAL', {}, ['wal', 1, 2]],
    ['PRAGMA journal_mode = TRUNCATE', {}, ['truncate', 2, 2]],
    ['PRAGMA synchronous = EXTRA; PRAGMA busy_timeout = 77', {}, ['wal', 3, 77]],
    ['PRAGMA synchronous = OFF', {}, ['wal', 0, 2]],
    ['', { pragmas: false }, ['delete', 2, 0]],
    ['PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL', { pragmas: false }, ['wal', 2, 0]],
  ]
  for (const [index, [set, options, after]] of cases.entries()) {
    const database = new DatabaseSync(`${path}/${index}.db`)
    database.exec(set)
    const storage = sqliteStorage(database, options)
    await storage.set('key', 'value')
    await storage.set('key', 'value', { durability: 'relaxed' })
    assert.equal(
      names.map((name) => pragma(database, name)),
      after,
      `${set} ${JSON.stringify(options)}`,
    )
    await storage.close?.()
    database.close()
  }
  await remove()
})

test("a write to the app's database is flushed to disk unless it is relaxed", async () => {
  const { path, remove } = await temporaryFolder()
  const database = new DatabaseSync(`${path}/store.db`)
  const output: string[] = []
  const prepare = (sql: string) => {
    const statement = database.prepare(sql)
    const all = (...values: Array<string | number | null>) => {
      if (/^(?:COMMIT|PRAGMA synchronous =)/.test(sql)) output.push(sql)
      return statement.all(...values)
    }
    return { all }
  }
  const storage = sqliteStorage({ prepare })
  await storage.set('key', 'value', { durability: 'relaxed' })
  output.length = 0
  await storage.set('key', 'value')
  await storage.set('key', 'value', { durability: 'relaxed' })
  assert.equal(output, ['PRAGMA synchronous = FULL', 'COMMIT', 'PRAGMA synchronous = NORMAL', 'COMMIT'])
  await storage.close?.()
  database.close()
  await remove()
})

test('a write waits for the app to end its open transaction', async () => {
  const { path, remove } = await temporaryFolder()
  for (const file of [':memory:', `${path}/store.db`]) {
    const database = new DatabaseSync(file)
    const storage = sqliteStorage(database)
    await storage.set('key', 'old')
    database.exec('BEGIN')
    const writing = storage.set('key', 'new')
    await new Promise((resolve) => setTimeout(resolve, 20))
    assert.is((await storage.get('key'))?.value, 'old')
    database.exec('COMMIT')
    await writing
    assert.is((await storage.get('key'))?.value, 'new')
    await storage.close?.()
    database.close()
  }
  await remove()
})

test('without WAL, a write waits for a reader that blocks the commit', async () => {
  const { path, remove } = await temporaryFolder()
  const [first, reader] = [new DatabaseSync(`${path}/store.db`), new DatabaseSync(`${path}/store.db`)]
  const storage = sqliteStorage(first, { pragmas: false })
  await storage.set('key', 'old')
  reader.exec('BEGIN; SELECT * FROM signalbox_records')
  const writing = storage.set('key', 'new')
  await new Promise((resolve) => setTimeout(resolve, 20))
  reader.exec('COMMIT')
  assert.type(await writing, 'string')
  assert.is((await storage.get('key'))?.value, 'new')
  await storage.close?.()
  for (const database of [first, reader]) database.close()
  await remove()
})

test("removing expired rows doesn't roll back the app's transaction", async () => {
  const database = new DatabaseSync(':memory:')
  database.exec('CREATE TABLE orders (id INTEGER)')
  const table = openNumberedTable(database, 'records')
  const toError = (cause: unknown) => Object(cause)
  const engine = new LocalEngine({ database, table, now: Date.now, name: 'the store', busyMs: 10, toError })
  const write = (workMs: number) =>
    engine.write((rows, { version }) => {
      for (const until = performance.now() + workMs; performance.now() < until; );
      rows.put('key', { value: 'value', version })
    })
  for (let commits = 0; commits < 99; commits++) await write(0)
  const first = write(6) // takes so long that the next write needs its own transaction, which also removes expired rows
  const next = write(0).catch((error: unknown) => Reflect.get(Object(error), 'code'))
  await first
  database.exec('BEGIN; INSERT INTO orders VALUES (1)')
  assert.is(await next, 'STORAGE_LOCKED')
  database.exec('COMMIT')
  assert.is(database.prepare('SELECT count(*) AS count FROM orders').get()?.count, 1)
  database.close()
})

test('sqliteStorage rejects invalid options with advice on what to pass', () => {
  const makes =
    (...args: unknown[]) =>
    () =>
      Reflect.apply(sqliteStorage, undefined, args)
  assert.throws(makes(), /sqliteStorage takes a database from node:sqlite/)
  assert.throws(makes({}), /sqliteStorage takes a database from node:sqlite/)
  assert.throws(makes(new DatabaseSync(':memory:'), { table: 'A' }), /table must be a lowercase name/)
})
