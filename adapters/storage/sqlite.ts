import type { Clock, Storage } from '../../src/index.ts'
import { checkOptions } from '../lib/check-options.ts'
import { poll } from './lib/poll.ts'
import { createStorageError } from './lib/storage-error.ts'
import { checkWrite } from './lib/value-limits.ts'
import { createWatchers } from './lib/watchers.ts'
import { type LocalDatabase, runOnce, setPragmas } from './sqlite/local-database.ts'
import { createLocalOperations, type OpenedTable } from './sqlite/local-storage.ts'
import { openNumberedTable } from './sqlite/numbered-table.ts'
import { createRemoteStorage, type D1Database, type LibsqlClient, type RemoteDatabaseOptions } from './sqlite/remote.ts'
import { LocalEngine } from './sqlite/sqlite-engine.ts'
import { explainSqliteError, retryWhileBusy } from './sqlite/sqlite-errors.ts'

/** A database that `sqliteStorage` accepts. */
export type SqliteDatabase = LocalDatabase | D1Database | LibsqlClient

/** Options for `sqliteStorage`. */
export interface SqliteStorageOptions {
  /** The table's name. Default: `signalbox_records`. */
  table?: string
  /** The clock used to measure `ttlMs`. Default: the platform's. */
  clock?: Pick<Clock, 'now'>
  /** How often to poll a database in the same process for other processes' changes, in ms. Default: 50. */
  pollMs?: number
  /**
   * `false` leaves your `journal_mode`, `synchronous`, and `busy_timeout` for a database in the same process unchanged. By default, any of these
   * pragmas that still have SQLite's default value become WAL, NORMAL, and 2 ms.
   */
  pragmas?: boolean
}

/**
 * Stores all data in one SQLite table. Atomic for all processes that use the table. With an in-process database (`node:sqlite`,
 * `bun:sqlite`), commits are flushed to disk unless the write is relaxed, and other processes' changes are watched. D1 and libSQL aren't
 * watched, so a gateway rereads them. `close()` leaves your database open. Errors have a `code` (`STORAGE_…`). Throws a TypeError for
 * invalid options.
 */
export function sqliteStorage(database: SqliteDatabase, options: SqliteStorageOptions = {}): Storage {
  checkOptions(options, { table: true, clock: true, pollMs: true, pragmas: true })
  const { clock = { now: () => Date.now() }, table = 'signalbox_records' } = options
  if (!/^[a-z_][a-z0-9_]{0,60}$/.test(table))
    throw new TypeError('table must be a lowercase name, such as "signalbox_records".')
  const found = findDatabase(database)
  const limits = {
    store: `The table ${table}`,
    largestValueBytes: MAX_VALUE_BYTES,
    longestKeyBytes: MAX_KEY_BYTES,
    lacksNul: true, // in Node 22 and Deno, `node:sqlite` reads a string only up to its first NUL
  }
  const tableOptions: TableOptions = {
    table,
    clock,
    checkWrite: (key, value, ttlMs) => checkWrite(key, value, ttlMs, limits),
    toError: (cause) => toStorageError(cause, { table, isRemote: !('local' in found) }),
  }
  const storage =
    'local' in found
      ? createLocalStorage(found.local, tableOptions, options)
      : createRemoteStorage({ ...tableOptions, ...found })
  return { ...storage, largestValueBytes: MAX_VALUE_BYTES, longestKeyBytes: MAX_KEY_BYTES }
}

/** Maximum size of a value, in bytes; just under the 2 MB that D1 accepts for a row. */
const MAX_VALUE_BYTES = 1_900_000
const MAX_KEY_BYTES = 1_024
const BUSY_MS = 5_000

type TableOptions = Omit<RemoteDatabaseOptions, 'all'>

function createLocalStorage(
  database: LocalDatabase,
  { table, clock, checkWrite, toError }: TableOptions,
  { pollMs = 50, pragmas = true }: SqliteStorageOptions,
): Storage {
  let store: OpenedTable | undefined
  let opening: Promise<OpenedTable> | undefined
  let isClosed = false
  const name = `the database of ${table}`

  function openNow(): OpenedTable {
    if (store) return store
    const { isRelaxed } = pragmas ? setPragmas(database) : { isRelaxed: false }
    const rows = openNumberedTable(database, table)
    const engine = new LocalEngine({
      database,
      table: rows,
      now: () => clock.now(),
      name,
      busyMs: BUSY_MS,
      toError,
      ...(isRelaxed && {
        setFlushing: (isFlushing) => void runOnce(database, `PRAGMA synchronous = ${isFlushing ? 'FULL' : 'NORMAL'}`),
      }),
    })
    store = { engine, table: rows }
    return store
  }

  function openTable(): OpenedTable | Promise<OpenedTable> {
    if (isClosed) throw createStorageError('STORAGE_CLOSED', `The store in ${table} was closed.`)
    if (store) return store
    // Another process may be creating the same table.
    opening ??= retryWhileBusy(openNow, { name, timeoutMs: BUSY_MS, toError }).finally(() => {
      opening = undefined
    })
    return opening
  }

  const watchers = createWatchers(() => {
    try {
      if (!isClosed) openNow().table.skipChanges()
    } catch {
      // ignored, because the first poll tries again
    }
    return poll(async () => (await openTable()).table.takeChanges().keys.forEach(watchers.notify), pollMs)
  })

  return {
    atomic: true,
    ...createLocalOperations({ openTable, checkWrite: (key, value) => checkWrite(key, value, undefined) }),
    watch: watchers.add,
    async close() {
      watchers.clear()
      isClosed = true
      await opening?.catch(() => {})
      await store?.engine.idle()
    },
  }
}

/** Determines the database's type. Throws a TypeError if it isn't supported. */
function findDatabase(database: SqliteDatabase): { local: LocalDatabase } | Pick<RemoteDatabaseOptions, 'all'> {
  if (typeof database === 'object' && database !== null) {
    if ('execute' in database && typeof database.execute === 'function')
      return { all: async (sql, args) => (await database.execute({ sql, args })).rows }
    if ('batch' in database && typeof database.batch === 'function')
      return {
        all: async (sql, values) =>
          (
            await database
              .prepare(sql)
              .bind(...values)
              .all()
          ).results,
      }
    if ('prepare' in database && typeof database.prepare === 'function') return { local: database as LocalDatabase } // D1 databases have `batch`
  }
  throw new TypeError(
    'sqliteStorage takes a database from node:sqlite (new DatabaseSync(path)), bun:sqlite, Cloudflare D1, or @libsql/client.',
  )
}

const getCode = (cause: unknown) => String(Object(cause).code ?? '')

function toStorageError(cause: unknown, { table, isRemote }: { table: string; isRemote: boolean }): Error {
  if (cause instanceof Error && cause.name === 'StorageError') return cause
  const message = cause instanceof Error ? cause.message : ''
  const text = `${message} ${getCode(cause)} ${getCode(Object(cause).cause)}`
  const [reason] = /\bE[A-Z]{4,}\b/.exec(text) ?? []
  const isAnswer = /SQLite|SQLITE_|D1_/.test(text)
  if (isRemote && /\bstatus:? 40[13]\b/.test(message))
    return createStorageError(
      'STORAGE_UNREADABLE',
      `The database of the table ${table} rejected the token. Check its URL and token.`,
      cause,
    )
  if ((isRemote && !isAnswer) || /fetch|network|connect|ECONN|timed? ?out/i.test(message))
    return createStorageError(
      'STORAGE_UNREACHABLE',
      `The database of the table ${table} is unreachable${reason === undefined ? '' : ` (${reason})`}. Check its URL and token.`,
      cause,
    )
  const { code } = explainSqliteError(cause)
  return createStorageError(
    code,
    `The database rejected access to the table ${table}. Check that it is open, intact, and writable.`,
    cause,
  )
}
