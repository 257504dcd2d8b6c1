import type { Clock, Storage } from '../../src/index.ts'
import { checkOptions } from '../lib/check-options.ts'
import { storageError } from './lib/error.ts'
import { checkWrite } from './lib/limits.ts'
import { endOf, fromOrdered, toOrdered } from './lib/ordered-text.ts'
import { poll } from './lib/poll.ts'
import { createWatchers } from './lib/watchers.ts'

/** A database of `node:sqlite` or `bun:sqlite`. */
interface SyncDatabase {
  prepare(sql: string): { all(...values: Array<string | number | null>): unknown[] }
}

/** Cloudflare D1. */
interface D1Database {
  prepare(sql: string): { bind(...values: unknown[]): { all(): Promise<{ results: unknown[] }> } }
  batch(statements: never[]): Promise<unknown>
}

/** A client of `@libsql/client`. */
interface LibsqlClient {
  execute(statement: { sql: string; args: Array<string | number | null> }): Promise<{ rows: unknown[] }>
}

/** A database that `sqliteStorage` accepts. */
export type SqliteDatabase = SyncDatabase | D1Database | LibsqlClient

/** The options of `sqliteStorage`. */
export interface SqliteStorageOptions {
  /** The name of the table; default `signalbox_records`. */
  table?: string
  /** The clock that `ttlMs` is measured with; default: the platform's. */
  clock?: Pick<Clock, 'now'>
  /** How often a database in the same process is polled for changes of other processes, in ms; default 50. */
  pollMs?: number
}

/**
 * Keeps all data in one table of SQLite. Atomic for all processes that use the table; the database's setting `synchronous` decides how
 * durable a write is. A database in the process (`node:sqlite`, `bun:sqlite`) is watched; D1 and libSQL are not, so that a gateway reads them
 * again. `close()` leaves the database open: the host made it. Errors have a `code` (`STORAGE_…`). Throws a TypeError on invalid options.
 */
export function sqliteStorage(database: SqliteDatabase, options: SqliteStorageOptions = {}): Storage {
  checkOptions(options, { table: true, clock: true, pollMs: true })
  const { clock = { now: () => Date.now() }, table = 'signalbox_records', pollMs = 50 } = options
  if (!/^[a-z_][a-z0-9_]{0,60}$/.test(table))
    throw new TypeError('table must be a name in lower case, such as "signalbox_records".')
  const { all, isRemote } = rowsOf(database)
  const limits = {
    store: `The table ${table}`,
    largestValueBytes: LARGEST_VALUE,
    longestKeyBytes: LONGEST_KEY,
    lacksNul: true, // node:sqlite of Node 22 and of Deno reads a text only up to its first NUL
  }
  const watchers = createWatchers(watchTable)
  const running = new Set<Promise<unknown>>()
  let preparing: Promise<unknown> | undefined
  let isClosed = false

  /** Runs a statement, again and again for up to five seconds while another process holds the lock of the database. */
  async function run<Row>(sql: string, values: Array<string | number | null>): Promise<Row[]> {
    for (const until = performance.now() + BUSY_MS; ; await pause()) {
      try {
        return (await all(sql, values)) as Row[] // the statement selects these columns
      } catch (cause) {
        if (!isBusy(cause) || performance.now() > until) throw failure(cause, table)
      }
    }
  }

  async function query<Row>(sql: string, values: Array<string | number | null>): Promise<Row[]> {
    if (isClosed) throw storageError('STORAGE_CLOSED', `The store in ${table} was closed.`)
    preparing ??= prepare().catch((cause: unknown) => {
      preparing = undefined
      throw cause
    })
    const work = preparing.then(() => run<Row>(sql, values))
    const settled: Promise<unknown> = work.catch(() => {}).finally(() => running.delete(settled))
    running.add(settled)
    return work
  }

  async function prepare(): Promise<void> {
    await run(
      `CREATE TABLE IF NOT EXISTS ${table} (key TEXT PRIMARY KEY, value TEXT, version TEXT NOT NULL, expires_at REAL, seq INTEGER NOT NULL) WITHOUT ROWID`,
      [],
    )
    await run(`CREATE INDEX IF NOT EXISTS ${table}_seq ON ${table} (seq)`, [])
  }

  // SQLite makes writes one after the other, so that each gets a number of its own, greater than all before.
  const NEXT = `(SELECT coalesce(max(seq), 0) + 1 FROM ${table})`
  const live = (now: string) => `value IS NOT NULL AND (expires_at IS NULL OR expires_at > ${now})`
  const OVERWRITTEN =
    'value = excluded.value, version = excluded.version, expires_at = excluded.expires_at, seq = excluded.seq'
  const SET = `INSERT INTO ${table} (key, value, version, expires_at, seq) VALUES (?1, ?2, ?3, ?4, ${NEXT}) ON CONFLICT (key) DO UPDATE SET ${OVERWRITTEN}`
  const CREATE = `${SET} WHERE NOT (${live('?5')}) RETURNING version`
  const REPLACE = `UPDATE ${table} SET value = ?2, version = ?3, expires_at = ?4, seq = ${NEXT} WHERE key = ?1 AND version = ?6 AND ${live('?5')} RETURNING version`
  const DELETE = `UPDATE ${table} SET value = NULL, expires_at = NULL, seq = ${NEXT} WHERE key = ?1 AND (?2 IS NULL OR version = ?2) AND ${live('?3')} RETURNING key`
  const WHOLE = `(value GLOB '[0-9]*' OR value GLOB '-[0-9]*') AND substr(value, 2) NOT GLOB '*[^0-9]*' AND length(value) <= 17`
  const SUM = '(CAST(value AS INTEGER) + ?2)'
  const INCREMENT = `INSERT INTO ${table} (key, value, version, expires_at, seq) VALUES (?1, CAST(CAST(?2 AS INTEGER) AS TEXT), ?3, ?4, ${NEXT}) ON CONFLICT (key) DO UPDATE SET value = CASE WHEN ${live('?5')} THEN CAST(CAST(${SUM} AS INTEGER) AS TEXT) ELSE excluded.value END, version = excluded.version, expires_at = CASE WHEN ${live('?5')} THEN expires_at ELSE excluded.expires_at END, seq = excluded.seq WHERE NOT (${live('?5')}) OR (${WHOLE} AND abs(CAST(value AS INTEGER)) <= ${MAX} AND abs${SUM} <= ${MAX}) RETURNING value`
  const GET = `SELECT value, version FROM ${table} WHERE key = ?1 AND ${live('?2')}`
  const LIST = `SELECT key, value, version FROM ${table} WHERE key >= ?1 AND key < ?2 AND (?3 IS NULL OR key > ?3) AND ${live('?4')} ORDER BY key LIMIT ?5`
  const LAST = `SELECT coalesce(max(seq), 0) AS seq FROM ${table}`
  const CHANGED = `SELECT key, seq FROM ${table} WHERE seq > ?1 ORDER BY seq`
  const SWEEP = `DELETE FROM ${table} WHERE NOT (${live('?1')}) AND seq < (SELECT max(seq) FROM ${table}) - 10000`

  /** The number of the last change; 0 while there is no table. */
  function lastNow(): number {
    try {
      const [row] = all(LAST, []) as Array<{ seq: number }> // only databases in the process are watched, and they return rows synchronously
      return row?.seq ?? 0
    } catch {
      return 0
    }
  }

  /** Reports every row whose number is new. */
  function watchTable(): () => void {
    let last = lastNow()
    async function look(): Promise<void> {
      for (const { key, seq } of await query<{ key: string; seq: number }>(CHANGED, [last])) {
        last = seq
        watchers.tell(fromOrdered(key))
      }
    }

    return poll(look, pollMs)
  }

  let writes = 0
  const swept = async () => {
    if (++writes % SWEEP_EVERY === 0) await query(SWEEP, [clock.now()])
  }

  const storage: Storage = {
    atomic: true,
    largestValueBytes: LARGEST_VALUE,
    longestKeyBytes: LONGEST_KEY,

    async get(key) {
      const [found] = await query<{ value: string; version: string }>(GET, [toOrdered(key), clock.now()])
      return found && { value: found.value, version: found.version }
    },

    async set(key, value, { ifVersion, ttlMs } = {}) {
      checkWrite(key, value, ttlMs, limits)
      const version = crypto.randomUUID()
      const now = clock.now()
      const values = [toOrdered(key), value, version, ttlMs === undefined ? null : now + ttlMs]
      let done: unknown[]
      if (ifVersion === undefined) done = await query(`${SET} RETURNING version`, values)
      else if (ifVersion === null) done = await query(CREATE, [...values, now])
      else done = await query(REPLACE, [...values, now, ifVersion])
      await swept()
      return done.length > 0 && version
    },

    delete: async (key, { ifVersion } = {}) =>
      (await query(DELETE, [toOrdered(key), ifVersion ?? null, clock.now()])).length > 0,

    async list(prefix, { after, limit } = {}) {
      const start = toOrdered(prefix)
      const values = [start, endOf(start), after === undefined ? null : toOrdered(after), clock.now(), limit ?? -1]
      const rows = await query<{ key: string; value: string; version: string }>(LIST, values)
      return rows.map(({ key, value, version }) => ({ key: fromOrdered(key), value, version }))
    },

    async increment(key, by, { ttlMs } = {}) {
      checkWrite(key, '', ttlMs, limits)
      const now = clock.now()
      const values = [toOrdered(key), by, crypto.randomUUID(), ttlMs === undefined ? null : now + ttlMs, now]
      const [sum] = Number.isSafeInteger(by) ? await query<{ value: string }>(INCREMENT, values) : []
      if (sum) return Number(sum.value)
      throw storageError(
        'STORAGE_NOT_A_NUMBER',
        `"${key}" cannot be incremented: its value, the step or the sum is no safe integer.`,
      )
    },

    async close() {
      watchers.clear()
      await Promise.all(running)
      isClosed = true
    },
  }
  if (isRemote) return storage // each poll would be a call over the network
  return { ...storage, watch: watchers.add }
}

/** The largest safe integer. */
const MAX = '9007199254740991'
/** Just under the 2 MB that D1 accepts for a row. */
const LARGEST_VALUE = 1_900_000
const LONGEST_KEY = 1_024
const BUSY_MS = 5_000
/** Number of writes between two removals of rows that were deleted, or have expired, long ago. */
const SWEEP_EVERY = 1_000

/** The same way to run a statement on each kind of database. Throws a TypeError when `database` is none of them. */
function rowsOf(database: SqliteDatabase): {
  all(sql: string, values: Array<string | number | null>): Promise<unknown[]> | unknown[]
  isRemote: boolean
} {
  if (typeof database === 'object' && database !== null) {
    if ('execute' in database && typeof database.execute === 'function')
      return { all: async (sql, args) => (await database.execute({ sql, args })).rows, isRemote: true }
    if ('batch' in database && typeof database.batch === 'function')
      return {
        all: async (sql, values) =>
          (
            await database
              .prepare(sql)
              .bind(...values)
              .all()
          ).results,
        isRemote: true,
      }
    if ('prepare' in database && typeof database.prepare === 'function') {
      const local = database as SyncDatabase
      return { all: (sql, values) => local.prepare(sql).all(...values), isRemote: false }
    }
  }
  throw new TypeError(
    'sqliteStorage takes a database of node:sqlite (new DatabaseSync(path)), bun:sqlite, Cloudflare D1 or @libsql/client.',
  )
}

const isBusy = (cause: unknown) =>
  cause instanceof Error &&
  /SQLITE_BUSY|database (?:table )?is locked/i.test(`${cause.message} ${Reflect.get(cause, 'code')}`)

const pause = () => new Promise((resolve) => setTimeout(resolve, 2 + Math.random() * 8))

const codeOf = (cause: unknown) => String(Object(cause).code ?? '')

function failure(cause: unknown, table: string): Error {
  if (isBusy(cause))
    return storageError(
      'STORAGE_LOCKED',
      `Another process kept the lock of the database of ${table} for ${BUSY_MS / 1_000} s. Nothing was written.`,
      cause,
    )
  const message = cause instanceof Error ? cause.message : ''
  const [reason] = /\bE[A-Z]{4,}\b/.exec(`${message} ${codeOf(cause)} ${codeOf(Object(cause).cause)}`) ?? []
  if (/fetch|network|connect|ECONN|timed? ?out/i.test(message))
    return storageError(
      'STORAGE_UNREACHABLE',
      `The database of the table ${table} cannot be reached${reason === undefined ? '' : ` (${reason})`}. Check its address and token.`,
      cause,
    )
  return storageError(
    'STORAGE_UNREADABLE',
    `The database refused the table ${table}. Check that it is open, whole and writable.`,
    cause,
  )
}
