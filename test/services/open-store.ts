import { createRequire } from 'node:module'
import { fileStorage } from '../../adapters/storage/file.ts'
import { type PostgresPool, postgresStorage } from '../../adapters/storage/postgres.ts'
import { redisStorage } from '../../adapters/storage/redis.ts'
import type { Storage } from '../../src/index.ts'
import { openClient } from './redis-clients.ts'

/** A store, and a function that closes the app's own connections to it. */
export interface OpenedStore {
  storage: Storage
  end(): Promise<void> | void
}

/** A `pg` pool. */
export interface Pool extends PostgresPool {
  end(): Promise<void>
  on(event: 'error', listener: () => void): void
}

/** Resolves packages from the root, where tests run, because a test's program may be bundled elsewhere. */
const require = createRequire(`${process.cwd()}/test/services/`)

/** Opens a `pg` pool as in the README. */
export function openPool(connectionString: string, options: object = {}): Pool {
  const { Pool } = require('pg') as { Pool: new (options: object) => Pool }
  const pool = new Pool({ connectionString, connectionTimeoutMillis: 4_000, query_timeout: 4_000, ...options })
  pool.on('error', () => {}) // ignores idle connections that are lost when the server dies
  return pool
}

/**
 * Opens the store at a location: `redis://…?prefix=…`, `postgres://…?table=…`, or a folder. With `&watch=no`, the store doesn't report other
 * instances' changes. With `&listen=no`, Postgres only polls.
 */
export async function openStore(location: string): Promise<OpenedStore> {
  if (!/^(?:redis|postgres):/.test(location))
    return { storage: fileStorage({ path: location, logger: false }), end() {} }
  const url = new URL(location)
  const getOption = (name: string) => {
    const value = url.searchParams.get(name)
    url.searchParams.delete(name)
    return value ?? undefined
  }
  const isBlind = getOption('watch') === 'no'
  const { storage, end } = await (url.protocol === 'redis:' ? openRedis(url, getOption) : openPostgres(url, getOption))
  if (!isBlind) return { storage, end }
  const { watch, ...blind } = storage
  return { storage: blind, end }
}

type Named = (name: string) => string | undefined

async function openRedis(url: URL, named: Named): Promise<OpenedStore> {
  const prefix = named('prefix') ?? 'signalbox'
  const { client, end } = await openClient('ioredis', url.href)
  return { storage: redisStorage(client, { prefix }), end }
}

async function openPostgres(url: URL, named: Named): Promise<OpenedStore> {
  const table = named('table') ?? 'signalbox_records'
  const isPolled = named('listen') === 'no'
  const pool = openPool(url.href)
  return { storage: postgresStorage(pool, { table, ...(isPolled && { listen: false }) }), end: () => pool.end() }
}
