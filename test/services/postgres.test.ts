import { postgresMigration, postgresStorage } from '../../adapters/storage/postgres.ts'
import { storageConformance } from '../conformance/storage.ts'
import { roundsUntil } from '../support/cpu-time.ts'
import { assert, suite } from '../support/suite.ts'
import { openPool as openPoolAt } from './postgres-pool.ts'
import { startPostgres } from './postgres-server.ts'

const server = await startPostgres()
let tables = 0

const openPool = () => openPoolAt(server.url, { connectionTimeoutMillis: 2_000 })
const pool = openPool()

/** Ages a table's entries by `ms`, by moving their expiries back. */
const passTime = (table: string) => async (ms: number) =>
  void (await pool.query(`UPDATE ${table} SET expires_at = expires_at - ${ms} * interval '1 millisecond'`))

storageConformance('postgres', {
  has: ['increment', 'watch'],
  async create() {
    const table = `records_${++tables}`
    const open = () => postgresStorage(pool, { table, pollMs: 100 })
    const storage = open()
    return {
      storage,
      reopen: open,
      passTime: passTime(table),
      destroy: async () => void (await pool.query(`DROP TABLE IF EXISTS ${table}`)),
    }
  },
})

const test = suite('Postgres storage')

test.after(async () => {
  await pool.end()
  await server.remove()
})

test("Postgres storage reports another process's change within 100 ms, or on the next poll without LISTEN", async () => {
  for (const [listen, limitMs] of [
    [undefined, 100],
    [false as const, 400],
  ] as const) {
    const table = `records_${++tables}`
    const storage = postgresStorage(pool, {
      table,
      pollMs: listen === false ? 200 : 60_000,
      ...(listen === false && { listen }),
    })
    const other = postgresStorage(pool, { table })
    const recorded: string[] = []
    await storage.set('warm', '1')
    storage.watch?.((key) => void recorded.push(key))
    await new Promise((resolve) => setTimeout(resolve, 500))
    let changes = 0
    const recordedAfter = async () => {
      const key = `key/${++changes}`
      await other.set(key, 'value')
      const startedAt = performance.now()
      while (!recorded.includes(key)) {
        assert.ok(performance.now() - startedAt < 5_000, `never notified of ${key}`)
        await new Promise((resolve) => setTimeout(resolve, 2))
      }
      return performance.now() - startedAt
    }
    const latest = await roundsUntil(limitMs * 3, async () => {
      const delays: number[] = []
      while (delays.length < 5) delays.push(await recordedAfter())
      return Math.max(...delays)
    })
    assert.ok(Math.min(...latest) <= limitMs * 3, `ms until the slowest of five changes was reported: ${latest}`)
    await storage.close?.()
    await other.close?.()
  }
})

test('with a pool of one connection, Postgres storage polls, warns once, and every call succeeds', async () => {
  const single = openPoolAt(server.url, { max: 1 })
  const lines: string[] = []
  const warn = (line: string) => void lines.push(line)
  const table = `records_${++tables}`
  const storage = postgresStorage(single, { table, pollMs: 200, logger: { warn, error: warn } })
  const other = postgresStorage(pool, { table })
  const recorded: string[] = []
  for (let watcher = 0; watcher < 2; watcher++) storage.watch?.((key) => void recorded.push(key))
  await new Promise((resolve) => setTimeout(resolve, 500))
  await Promise.all(Array.from({ length: 20 }, (_, index) => storage.set(`own/${index}`, 'value')))
  await other.set('key', 'value')
  const startedAt = performance.now()
  while (!recorded.includes('key')) {
    assert.ok(performance.now() - startedAt < 5_000, 'never notified')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  assert.equal(lines, [
    `The pool of the table ${table} has one connection, which LISTEN would use. Changes by other instances are seen within 200 ms. Give the pool more connections, or pass \`listen: false\`.`,
  ])
  for (const item of [storage, other]) await item.close?.()
  await single.end()
})

test('Postgres storage rejects writes during an outage, and reports changes within 3 s after it', {
  timeoutMs: 300_000,
}, async () => {
  if (!server.isOwn) return
  const mine = openPool()
  const theirs = openPool()
  const table = `records_${++tables}`
  const storage = postgresStorage(mine, { table })
  const other = postgresStorage(theirs, { table })
  await storage.set('kept', '1')
  await other.set('deleted', '1')
  const recorded: string[] = []
  storage.watch?.((key) => void recorded.push(key))
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  recorded.length = 0
  await server.kill()
  const error: { code?: string; message?: string } = await storage.set('key', 'value').then(
    () => ({}),
    (error) => error,
  )
  assert.is(error.code, 'STORAGE_UNREACHABLE')
  assert.match(error.message ?? '', table)
  await server.start()
  while ((await other.delete('deleted').catch(() => undefined)) === undefined)
    await new Promise((resolve) => setTimeout(resolve, 20))
  await other.set('kept', '2')
  const startedAt = performance.now()
  while (!recorded.includes('deleted') || !recorded.includes('kept')) {
    assert.ok(performance.now() - startedAt < 3_000, `only notified of ${recorded}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  assert.is((await storage.get('kept'))?.value, '2')
  for (const item of [storage, other]) await item.close?.()
  for (const item of [mine, theirs]) await item.end()
})

test('without migrations, the error for a missing table names it and suggests postgresMigration()', async () => {
  const storage = postgresStorage(pool, { table: 'nowhere', migrate: false })
  const error: { code?: string; message?: string } = await storage.get('key').then(
    () => ({}),
    (error) => error,
  )
  assert.is(error.code, 'STORAGE_UNREADABLE')
  assert.match(error.message ?? '', /table nowhere \(42P01\)\. It does not exist\. Run postgresMigration\(\)/)
  await pool.query(postgresMigration({ table: 'nowhere' }))
  assert.is(await storage.get('key'), undefined)
  await storage.close?.()
})

test("closing Postgres storage leaves the app's pool open", async () => {
  const storage = postgresStorage(pool)
  await storage.set('key', 'value')
  await storage.close?.()
  const { rows } = await pool.query('SELECT 1 AS one')
  assert.equal(rows, [{ one: 1 }])
  const error: { code?: string } = await storage.get('key').then(
    () => ({}),
    (error) => error,
  )
  assert.is(error.code, 'STORAGE_CLOSED')
})

test("Postgres storage adds an error listener to the app's pool, and removes it on close", async () => {
  const bare = openPool()
  bare.removeAllListeners('error')
  const storage = postgresStorage(bare, { table: 'lost' })
  await storage.set('a', '1')
  const { rows } = await bare.query('SELECT pg_backend_pid() AS pid')
  const lost = new Promise<void>((resolve) => bare.on('error', () => resolve()))
  assert.is(bare.listenerCount('error'), 2)
  await pool.query('SELECT pg_terminate_backend($1)', [(rows[0] as { pid: number }).pid])
  await lost
  assert.is((await storage.get('a'))?.value, '1')
  await storage.close?.()
  assert.is(bare.listenerCount('error'), 1)
  await bare.end()
})

test('invalid Postgres storage options are rejected with an error that explains what to pass', () => {
  const makes =
    (...args: unknown[]) =>
    () =>
      Reflect.apply(postgresStorage, undefined, args)
  assert.throws(makes(), /postgresStorage takes a pg pool/)
  assert.throws(makes(pool, { table: 'a; drop table b' }), /table must be a lowercase name/)
  assert.throws(makes(pool, { tabel: 'a' }), /tabel is not an option/)
})
