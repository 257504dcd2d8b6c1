import { createStorageError } from '../lib/storage-error.ts'
import type { PostgresPool } from './postgres-pool.ts'

/** Runs a store's queries. */
export interface PostgresQueries {
  /** Runs a statement, and resolves to its rows. Rejects with a storage error, such as `STORAGE_CLOSED` after `close`. */
  query<Row>(text: string, values?: unknown[]): Promise<Row[]>
  /** Waits for the running queries, and rejects further ones. */
  close(): Promise<void>
}

/** Creates a table's queries. If the table is missing, the first query runs `migration` and tries again. */
export function createQueries(pool: PostgresPool, table: string, migration: string | undefined): PostgresQueries {
  const running = new Set<Promise<unknown>>()
  let isClosed = false
  let migrating: Promise<unknown> | undefined

  async function run(text: string, values: unknown[]) {
    try {
      return await pool.query(text, values)
    } catch (cause) {
      if (migration === undefined || Object(cause).code !== MISSING_TABLE) throw cause
      migrating ??= pool.query(migration).finally(() => {
        migrating = undefined
      })
      await migrating
      return pool.query(text, values)
    }
  }

  return {
    async query<Row>(text: string, values: unknown[] = []) {
      if (isClosed) throw createStorageError('STORAGE_CLOSED', `The table ${table} was closed.`)
      const work = run(text, values)
      running.add(work)
      try {
        const result = await work
        return (Array.isArray(result) ? result : result.rows) as Row[] // the statement selects these columns
      } catch (cause) {
        throw toStorageError(cause, table)
      } finally {
        running.delete(work)
      }
    },
    async close() {
      await Promise.allSettled(running)
      isClosed = true
    },
  }
}

/** The SQLSTATE for a table that doesn't exist. */
const MISSING_TABLE = '42P01'

/** SQLSTATEs from a server that is down, full, busy, or not the primary. After any other SQLSTATE, the same statement would fail again. */
const TRANSIENT_STATES = /^(?:25006|40|53|55P03|57|58)/

/** Advice for an error, by its SQLSTATE or SQLSTATE class. */
const ADVICE: Record<string, string> = {
  22: 'Use a UTF8 database.',
  25: 'Use a writable server.',
  28: "Check the pool's user and password.",
  '3D': 'Create the database.',
  '3F': 'Create the schema.',
  42: 'Check its permissions and columns.',
  '42P01': 'It does not exist. Run postgresMigration(), or leave `migrate` on.',
  53: 'Give the server more space or connections.',
}

function toStorageError(cause: unknown, table: string): Error {
  const { code = '' }: { code?: string } = Object(cause)
  const isAnswer = /^(?!08|E)[0-9A-Z]{5}$/.test(code) // EPIPE is Node's own error code
  const subject = `the table ${table}${code && ` (${code})`}. `
  return createStorageError(
    isAnswer && !TRANSIENT_STATES.test(code) ? 'STORAGE_UNREADABLE' : 'STORAGE_UNREACHABLE',
    isAnswer
      ? `Postgres rejected ${subject}${ADVICE[code] ?? ADVICE[code.slice(0, 2)] ?? 'Try again, or read its log.'}`
      : `Postgres is unreachable for ${subject}Check the pool's address and the server.`,
    cause,
  )
}
