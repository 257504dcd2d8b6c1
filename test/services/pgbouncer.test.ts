import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { type PostgresStorageOptions, postgresStorage } from '../../adapters/storage/postgres.ts'
import { createGateway } from '../../src/gateway.ts'
import { sharedPauseConformance } from '../conformance/gateways.ts'
import { storageConformance } from '../conformance/storage.ts'
import { roundsUntil } from '../support/cpu-time.ts'
import { assert, skip, suite } from '../support/suite.ts'
import { openPool } from './open-store.ts'
import { startBouncer } from './pgbouncer.ts'
import { startPostgres } from './postgres-server.ts'

if (!existsSync(new URL('node_modules/pg', import.meta.url))) skip('services: the clients are not installed')

const server = await startPostgres()
const bouncer = await startBouncer(server.url)
const direct = openPool(server.url)
const pooled = openPool(bouncer.url)
let tables = 0
const newTable = () => `bounced_${process.pid}_${++tables}`

function conformance(name: string, options: PostgresStorageOptions) {
  storageConformance(`postgres behind PgBouncer in transaction mode, ${name},`, {
    has: ['increment', 'watch'],
    async create() {
      const table = newTable()
      const open = () => postgresStorage(pooled, { table, pollMs: 100, ...options })
      return {
        storage: open(),
        reopen: open,
        passTime: async (ms) =>
          void (await direct.query(`UPDATE ${table} SET expires_at = expires_at - ${ms} * interval '1 millisecond'`)),
        destroy: async () => void (await direct.query(`DROP TABLE IF EXISTS ${table}`)),
      }
    },
  })
}

conformance('with polling', { listen: false })
conformance('with a separate pool for listening', { listen: direct })
conformance("with a pool that can't listen", { logger: false })

const test = suite('PgBouncer')

/** Opens two stores on one table, and records what the first one reports and logs. */
function pair(options: PostgresStorageOptions) {
  const table = newTable()
  const lines: string[] = []
  const createLog = (level: string) => (message: string) => void lines.push(`${level} ${message}`)
  const logger = {
    debug: createLog('debug'),
    info: createLog('info'),
    warn: createLog('warn'),
    error: createLog('error'),
  }
  const storage = postgresStorage(pooled, { table, logger, ...options })
  const other = postgresStorage(pooled, { table, listen: false })
  const recorded: string[] = []
  storage.watch?.((key) => void recorded.push(key))
  return {
    ...{ other, lines, recorded, table },
    async close() {
      await storage.close?.()
      await other.close?.()
    },
  }
}

async function recordedAfter(recorded: string[], key: string): Promise<number> {
  const startedAt = performance.now()
  while (!recorded.includes(key)) {
    assert.ok(performance.now() - startedAt < 5_000, `never notified of ${key}`)
    await sleep(2)
  }
  return performance.now() - startedAt
}

test("a pool that can't listen is detected, logged once, and polled for changes", async () => {
  const { other, lines, recorded, table, close } = pair({ pollMs: 200 })
  for (let tries = 0; lines.length === 0 && tries < 300; tries++) await sleep(20)
  await other.set('after', 'value')
  await recordedAfter(recorded, 'after')
  await sleep(1_500)
  assert.is(lines.length, 1)
  assert.match(
    lines[0] ?? '',
    `warn The pool of the table ${table} receives no notifications, perhaps because of a transaction-mode pooler. Changes by other instances are seen within 200 ms. Pass \`listen: false\`, or a pool without the pooler: \`listen: directPool\`.`,
  )
  await close()
})

test('with a listening pool that bypasses the pooler, changes are reported immediately, without a warning', async () => {
  const { other, lines, recorded, close } = pair({ listen: direct, pollMs: 60_000 })
  await other.set('warm', 'value')
  await sleep(500)
  let changes = 0
  const delays = await roundsUntil(100, async () => {
    const key = `key/${++changes}`
    await other.set(key, 'value')
    return recordedAfter(recorded, key)
  })
  assert.ok(Math.min(...delays) <= 100, `notified after ${delays} ms`)
  await sleep(1_000)
  assert.equal(lines, [])
  await close()
})

test('concurrent reads and writes succeed with more client connections than the pooler has to the server', async () => {
  const table = newTable()
  const pools = Array.from({ length: 4 }, () => openPool(bouncer.url, { max: 10 }))
  const stores = pools.map((pool) => postgresStorage(pool, { table, listen: false }))
  await Promise.all(
    Array.from({ length: 100 }, async (_, index) => {
      const store = stores[index % stores.length]
      assert.ok(await store?.set(`key/${index}`, String(index), { ifVersion: null }))
      assert.is((await store?.get(`key/${index}`))?.value, String(index))
      await store?.increment?.('count', 1)
    }),
  )
  assert.is((await stores[0]?.get('count'))?.value, '100')
  assert.is((await stores[1]?.list('key/'))?.length, 100)
  for (const store of stores) await store.close?.()
  for (const pool of pools) await pool.end()
})

test('a gateway handles model requests and management requests through the pooler', async () => {
  const storage = postgresStorage(pooled, { table: newTable(), listen: false })
  const gateway = createGateway({ storage, secret: 'a secret of 32 characters or more', logger: false })
  const { key, id } = await gateway.api.keys.create({ name: 'team' })
  const status = async () =>
    (await gateway.fetch(new Request('http://gateway/v1/models', { headers: { authorization: `Bearer ${key}` } })))
      .status
  assert.is(await status(), 200)
  await gateway.api.keys.update(id, { isActive: false })
  assert.is(await status(), 403)
  await gateway.close()
  await storage.close?.()
})

sharedPauseConformance('Postgres behind PgBouncer', {
  create() {
    const table = newTable()
    return {
      place: `${bouncer.url}?table=${table}&listen=no`,
      remove: async () => void (await direct.query(`DROP TABLE IF EXISTS ${table}`)),
    }
  },
  knownWithinMs: 1_000,
  async end() {
    for (const pool of [pooled, direct]) await pool.end()
    await bouncer.remove()
    await server.remove()
  },
})
