import { createRequire } from 'node:module'
import process from 'node:process'
import { type DenoKv, denoKvStorage } from '../../../adapters/storage/deno-kv.ts'
import { fileStorage } from '../../../adapters/storage/file.ts'
import { memoryStorage } from '../../../adapters/storage/memory.ts'
import { type PostgresPool, postgresStorage } from '../../../adapters/storage/postgres.ts'
import { type SqliteDatabase, sqliteStorage } from '../../../adapters/storage/sqlite.ts'
import { type Unstorage, unstorageStorage } from '../../../adapters/storage/unstorage.ts'
import type { StorageConformance } from '../../conformance/storage.ts'
import { temporaryFolder } from '../../storage/support/folder.ts'
import { suite } from '../../support/suite.ts'
import { openClient } from '../redis-clients.ts'
import { redisConformance } from '../redis-conformance.ts'
import { upstashConformance } from '../upstash-conformance.ts'
import { denoKvTests } from './deno-kv.ts'
import type { Subject } from './report.ts'

/** The URLs of the servers that some stores need. */
export interface Servers {
  redis: string
  postgres: string
  /** Upstash's REST API in front of that Redis. */
  upstash: string
}

/** Resolves packages from the root, where tests run, because the program is bundled elsewhere. */
const require = createRequire(`${process.cwd()}/test/services/`)

/** How the conformance suite opens each store in the matrix on Node, Bun, or Deno. */
export const subjectsOn = (servers: Servers): Record<string, Subject> => ({
  memory: () => ({
    create({ clock }) {
      const storage = memoryStorage({ clock })
      return { storage, reopen: () => storage }
    },
  }),

  file: () => ({
    async create({ clock }) {
      const { path, remove } = await temporaryFolder()
      const open = () => fileStorage({ path, clock, logger: false })
      return { storage: open(), reopen: open, destroy: remove }
    },
  }),

  async 'node:sqlite'() {
    const { DatabaseSync } = await import('node:sqlite')
    return sqlite(['increment', 'watch'], (path) => new DatabaseSync(path))
  },

  async 'bun:sqlite'() {
    const { Database } = (await import('bun:sqlite' as string)) as { Database: new (path: string) => LocalDatabase }
    return sqlite(['increment', 'watch'], (path) => new Database(path))
  },

  libSQL() {
    const { createClient } = require('@libsql/client') as { createClient(o: object): SqliteDatabase & Closable }
    return sqlite(['increment', 'getLinked'], (path) => createClient({ url: `file:${path}`, timeout: 5_000 }))
  },

  redis: () => redisConformance(() => openClient('redis', servers.redis)),

  upstash: () => upstashConformance(servers.upstash),

  postgres() {
    const { Pool } = require('pg') as { Pool: new (options: object) => PostgresPool & { end(): Promise<void> } }
    let tables = 0
    return {
      has: ['increment', 'watch'],
      create() {
        const pool = new Pool({
          connectionString: servers.postgres,
          connectionTimeoutMillis: 4_000,
          query_timeout: 4_000,
        })
        const table = `records_${process.pid}_${++tables}`
        const open = () => postgresStorage(pool, { table, pollMs: 100 })
        return {
          storage: open(),
          reopen: open,
          passTime: async (ms) =>
            void (await pool.query(`UPDATE ${table} SET expires_at = expires_at - ${ms} * interval '1 millisecond'`)),
          async destroy() {
            await pool.query(`DROP TABLE IF EXISTS ${table}`)
            await pool.end()
          },
        }
      },
    }
  },

  'deno-kv'() {
    denoKvTests(suite('deno-kv, in addition to the conformance suite'))
    return {
      has: ['increment', 'watch'],
      holdsDamage: true,
      async create({ clock }) {
        const { path, remove } = await temporaryFolder()
        const databases: Closable[] = []
        const open = async () => {
          const kv = await Deno.openKv(`${path}/kv.db`)
          databases.push(kv)
          return denoKvStorage(kv, { clock })
        }
        return {
          storage: await open(),
          reopen: open,
          async destroy() {
            for (const kv of databases) kv.close()
            await remove()
          },
        }
      },
    }
  },

  unstorage: () =>
    unstorage((path) =>
      require('unstorage').createStorage({ driver: require('unstorage/drivers/fs')({ base: path }) }),
    ),
})

declare const Deno: { openKv(path: string): Promise<DenoKv & Closable> }

interface Closable {
  close(): void
}

type LocalDatabase = SqliteDatabase & Closable & { exec(sql: string): void }

function sqlite(
  has: StorageConformance['has'],
  openDatabase: (path: string) => SqliteDatabase & Closable & Partial<LocalDatabase>,
): StorageConformance {
  return {
    ...(has && { has }),
    async create({ clock }) {
      const { path, remove } = await temporaryFolder()
      const databases: Closable[] = []
      const open = () => {
        const database = openDatabase(`${path}/store.db`)
        database.exec?.('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF')
        databases.push(database)
        return sqliteStorage(database, { clock, pollMs: 5 })
      }
      return {
        storage: open(),
        reopen: open,
        async destroy() {
          for (const database of databases) database.close()
          await remove()
        },
      }
    },
  }
}

function unstorage(openStorage: (path: string) => Unstorage): StorageConformance {
  return {
    atomic: false,
    has: [],
    async create({ clock }) {
      const { path, remove } = await temporaryFolder()
      const open = () => unstorageStorage(openStorage(path), { clock })
      return { storage: open(), reopen: open, destroy: remove }
    },
  }
}
