import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { parseArgs } from 'node:util'
import { fileStorage } from '../../adapters/storage/file.ts'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { postgresStorage } from '../../adapters/storage/postgres.ts'
import { redisStorage } from '../../adapters/storage/redis.ts'
import { sqliteStorage } from '../../adapters/storage/sqlite.ts'
import { Keeper } from '../../src/features/usage/keeper.ts'
import { createUsageOperations } from '../../src/features/usage/operations/usage-operations.ts'
import { UsageReader } from '../../src/features/usage/reader.ts'
import { nextTurn } from '../../src/platform.ts'
import type { Storage } from '../../src/types.ts'
import type { Pool } from '../services/postgres-pool.ts'
import { getRequest, noAccounts, noNames } from '../usage/support/instances.ts'

/*
 * Writes 30 days of requests to a store like a gateway would, and measures how long it takes to read them. node test/bench/usage.ts --store sqlite
 * --requests 1000000
 */

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'memory' },
    requests: { type: 'string', default: '1000000' },
    keys: { type: 'string', default: '1000' },
  },
})
const requests = Number(values.requests)
const keys = Number(values.keys)
const DAY_MS = 24 * 60 * 60 * 1_000
const DAYS = 30
const end = Date.UTC(2026, 5, 1)
const start = end - DAYS * DAY_MS

interface OpenStore {
  storage: Storage
  size(): Promise<number>
  close(): Promise<void>
}

const clock = { now: () => now, sleep: async () => {} }
let now = start

const stores: Record<string, () => Promise<OpenStore>> = {
  memory: async () => ({ storage: memoryStorage({ clock }), size: async () => 0, close: async () => {} }),

  async file() {
    const folder = await mkdtemp(join(tmpdir(), 'signalbox-usage-'))
    return {
      storage: fileStorage({ path: folder, clock }),
      size: () => folderSize(folder),
      close: () => rm(folder, { recursive: true }),
    }
  },

  async sqlite() {
    const folder = await mkdtemp(join(tmpdir(), 'signalbox-usage-'))
    const file = join(folder, 'store.db')
    const database = new DatabaseSync(file)
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
    return {
      storage: sqliteStorage(database, { clock }),
      size: async () => (await stat(file)).size,
      close: () => rm(folder, { recursive: true }),
    }
  },

  async postgres() {
    const { startPostgres } = await import('../services/postgres-server.ts')
    const server = await startPostgres()
    const { Pool } = (await import('../services/node_modules/pg/lib/index.js' as string)).default
    const pool: Pool = new Pool({ connectionString: server.url })
    const size = async () =>
      Number(
        (await pool.query("SELECT pg_total_relation_size('signalbox_records') AS size")).rows.map(
          (row: unknown) => Object(row).size,
        )[0],
      )
    return {
      storage: postgresStorage(pool),
      size,
      async close() {
        await pool.end()
        await server.remove()
      },
    }
  },

  async redis() {
    const { startRedis } = await import('../services/redis-server.ts')
    const server = await startRedis('--appendonly', 'no')
    const { createClient } = await import('../services/node_modules/redis/dist/index.js' as string)
    const client = createClient({ url: server.url })
    await client.connect()
    return {
      storage: redisStorage(client),
      size: async () => Number(/used_memory:(\d+)/.exec(await client.info('memory'))?.[1]),
      async close() {
        client.destroy()
        await server.remove()
      },
    }
  },
}

async function folderSize(folder: string): Promise<number> {
  const { readdir } = await import('node:fs/promises')
  const sizes = await Promise.all((await readdir(folder)).map(async (name) => (await stat(join(folder, name))).size))
  return sizes.reduce((sum, size) => sum + size, 0)
}

const open = stores[values.store]
if (!open) throw new Error(`--store must be one of ${Object.keys(stores).join(', ')}`)
const { storage, size, close } = await open()

const readRetention = async () => ({ requests: 400, totals: 800 })
const onError = (error: unknown) => console.error(error)
const keeper = new Keeper({
  storage,
  clock,
  instanceId: 'bench',
  readRetention,
  maxCharacters: 600_000,
  nextTurn,
  onError,
})
const BATCH = 250
const FOLD_EVERY = 40

console.log(`${values.store}: ${requests} requests of ${DAYS} days and ${keys} keys; every tenth is of one key`)
const cpuBefore = process.cpuUsage()
const startedAt = performance.now()
let making = 0
for (let done = 0; done < requests; done += BATCH) {
  const before = performance.now()
  const batch = Array.from({ length: BATCH }, (_, index) => {
    const i = done + index
    const key = i % 10 === 0 ? 'heavy' : `key-${(i * 7919) % keys}`
    return getRequest(Math.floor(start + ((end - start) * i) / requests), {
      keyId: key,
      model: `model-${i % 5}`,
      input: 1_000 + (i % 977),
      firstByteMs: Math.round(150 * Math.exp(Math.sin(i * 12.9898) * 1.5)),
      durationMs: Math.round(1_200 * Math.exp(Math.sin(i * 78.233) * 2)),
    })
  })
  making += performance.now() - before
  now = Math.floor(start + ((end - start) * (done + BATCH)) / requests)
  await keeper.write({ number: done / BATCH + 1, requests: batch, unlisted: new Map() })
  if (done % (FOLD_EVERY * BATCH) === 0) await keeper.foldIfDue() // a gateway aggregates every two minutes; doing it less often here is faster and has the same result
}
await keeper.close()
const wroteMs = performance.now() - startedAt - making
const { user, system } = process.cpuUsage(cpuBefore)
console.log(
  `  written in ${(wroteMs / 1_000).toFixed(1)} s, ${((user + system) / requests - (making * 1_000) / requests).toFixed(1)} µs of CPU a request in this process, ${((await size()) / requests).toFixed(0)} bytes a request`,
)

now = end
const reader = new UsageReader({ storage, clock, queue: { batches: [] }, instanceId: 'reader', readRetention })
const usage = {
  storeRequest() {},
  streamRequests: () => Promise.reject(new Error()),
  async followPeers() {},
  getReader: async () => reader,
  async close() {},
}
const api = createUsageOperations({ usage, clock, store: noNames, accounts: noAccounts })

async function measure(label: string, read: () => Promise<unknown>): Promise<void> {
  const times: number[] = []
  let last: unknown
  for (let turn = 0; turn < 7; turn++) {
    const before = performance.now()
    last = await read()
    times.push(performance.now() - before)
  }
  const [first = 0, ...others] = times
  const { rows, requests: list, totals } = Object(last)
  const size = rows ? `${rows.length} rows, ${totals.requests} requests` : `${list?.length} requests`
  console.log(
    `  ${label}: ${first.toFixed(0)} ms the first time, then ${(others.sort((a, b) => a - b)[3] ?? 0).toFixed(1)} ms (${size})`,
  )
}

const day = { from: '2026-05-12', to: '2026-05-13' }
for (const keyId of ['key-7', 'heavy']) {
  await measure(`one day of ${keyId} by hour and model`, () => api.summary({ ...day, keyId, by: 'hour,model' }))
  await measure(`one day of ${keyId}, all totals`, () => api.summary({ ...day, keyId }))
  await measure(`one page of a day's requests for ${keyId}`, () => api.requests({ ...day, keyId, limit: 100 }))
}
await measure("a day's requests for key-7", () => api.requests({ ...day, keyId: 'key-7', limit: 1_000 }))
await measure('one page of all requests', () => api.requests({ limit: 100 }))
await measure('one day for all keys', () => api.summary(day))
await measure('30 days of heavy by day', () =>
  api.summary({ from: '2026-05-02', to: '2026-06-01', keyId: 'heavy', by: 'day' }),
)
await measure('30 days for all keys', () => api.summary({ from: '2026-05-02', to: '2026-06-01' }))
const [some] = (await api.requests({ ...day, keyId: 'key-7', limit: 1 })).requests
await measure('one request by ID', async () => ({ requests: [await api.request(some?.id ?? '')] }))
await storage.close?.()
await close()
process.exit(0)
