import { createRequire } from 'node:module'
import type { PostgresPool } from '../../adapters/storage/postgres.ts'

/** A `pg` pool. */
export interface Pool extends PostgresPool {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>
  end(): Promise<void>
  on(event: 'error', listener: () => void): void
  removeAllListeners(event: 'error'): void
  listenerCount(event: 'error'): number
}

/** Resolves packages from the root, where tests run. */
const require = createRequire(`${process.cwd()}/test/services/`)

/** Opens a pool with the README's options. */
export function openPool(connectionString: string, options: object = {}): Pool {
  const { Pool } = require('pg') as { Pool: new (options: object) => Pool }
  const pool = new Pool({ connectionString, connectionTimeoutMillis: 4_000, query_timeout: 4_000, ...options })
  pool.on('error', () => {}) // ignores idle connections that are lost when the server dies
  return pool
}
