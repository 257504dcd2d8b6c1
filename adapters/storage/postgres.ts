import type { Logger, Storage, Stored } from '../../src/index.ts'
import { checkOptions } from '../lib/check-options.ts'
import { fromOrdered, getUpperBound, toOrdered } from './lib/ordered-text.ts'
import { createStorageError } from './lib/storage-error.ts'
import { createSweepTurn } from './lib/sweep-turn.ts'
import { checkWrite } from './lib/value-limits.ts'
import { createWatchers } from './lib/watchers.ts'
import { watchTable } from './postgres/postgres-feed.ts'
import type { PostgresPool } from './postgres/postgres-pool.ts'
import { createQueries } from './postgres/postgres-queries.ts'
import { createStatements } from './postgres/postgres-statements.ts'

export type { PostgresClient, PostgresPool } from './postgres/postgres-pool.ts'

/** Options for `postgresStorage`. */
export interface PostgresStorageOptions {
  /** The table's name, optionally with its schema: `app.signalbox`. Default: `signalbox_records`. */
  table?: string
  /** Creates a missing table. Default: `true`. Use `false` if you run `postgresMigration()` yourself. */
  migrate?: boolean
  /**
   * The pool whose connection listens for changes. Default: the same pool, if it has more than one connection. `false` if no connection can listen,
   * as behind a transaction-mode pooler; only polling then finds other processes' changes.
   */
  listen?: Pick<PostgresPool, 'connect'> | false
  /** How often to poll the table for changes, in ms. Default: 1,000, or 750 with `listen: false`. */
  pollMs?: number
  /** `false` for serverless hosts: nothing polls or listens, and a gateway rereads data older than `storeMaxAgeMs`. */
  watch?: boolean
  /** Logs a warning if the pool receives no notifications. Default: the console. `false` drops the warning. */
  logger?: Logger | false
}

/**
 * Stores all data in one Postgres table. Atomic for all processes that use the table; a write resolves once Postgres has committed it.
 * `close()` leaves your pool open. Errors have a `code` (`STORAGE_…`). Throws a TypeError for invalid options.
 */
export function postgresStorage(pool: PostgresPool, options: PostgresStorageOptions = {}): Storage {
  checkOptions(options, { table: true, migrate: true, listen: true, pollMs: true, watch: true, logger: true })
  if (typeof pool?.query !== 'function') throw new TypeError('postgresStorage takes a pg pool: new pg.Pool({ … }).')
  const { migrate = true, logger = console, watch = true } = options
  const isSingle = pool.options?.max === 1 && (options.listen ?? pool) === pool
  const listen = !isSingle && (options.listen ?? pool)
  const { pollMs = listen ? 1_000 : 750 } = options // including query time, this stays below a second
  const { table, channel } = createNames(options.table)
  const limits = { ...LIMITS, store: `The table ${table}`, lacksNul: true }
  const onLost = () => {} // the pool opens another connection for the next query
  pool.on?.('error', onLost)
  const sql = createStatements(table, channel)
  const { query, close } = createQueries(pool, table, migrate ? postgresMigration(options) : undefined)
  const isSweepDue = createSweepTurn(SWEEP_AFTER_WRITES)
  const watchers = createWatchers(() => {
    if (isSingle)
      warn('has one connection, which LISTEN would use', 'Give the pool more connections, or pass `listen: false`.')
    return watchTable({
      query,
      pollMs,
      sql,
      channel,
      pool: listen || {},
      ownVersions: writtenVersions,
      notify: watchers.notify,
      warn,
    })
  })
  const writtenVersions = new Set<string>() // the latest versions that this object wrote, which polling doesn't report
  let isWarned = false

  async function readEntries(text: string, values: unknown[]): Promise<Array<Stored & { key: string }>> {
    const rows = await query<Stored & { key: string }>(text, values)
    return rows.map(({ key, value, version }) => ({ key: fromOrdered(key), value: value.slice(1), version }))
  }

  function warn(reason: string, remedy: string): void {
    if (logger && !isWarned)
      logger.warn(
        `The pool of the table ${table} ${reason}. Changes by other instances are seen within ${pollMs} ms. ${remedy}`,
      )
    isWarned = true
  }

  /** Creates a new, unique version. */
  function createVersion(): string {
    const version = crypto.randomUUID()
    writtenVersions.add(version)
    const [oldest] = writtenVersions
    if (writtenVersions.size > MAX_OWN_VERSIONS) writtenVersions.delete(oldest ?? '')
    return version
  }

  return {
    atomic: true,
    ...LIMITS,

    async get(key) {
      const [found] = await readEntries(sql.get, [toOrdered(key)])
      return found && { value: found.value, version: found.version }
    },

    async set(key, value, { ifVersion, ttlMs } = {}) {
      checkWrite(key, value, ttlMs, limits)
      const version = createVersion()
      const values = [toOrdered(key), value, version, ttlMs ?? null]
      const writtenRows =
        typeof ifVersion === 'string'
          ? await query(sql.replace, [...values, ifVersion])
          : await query(ifVersion === null ? sql.create : sql.set, values)
      if (!watch && isSweepDue()) await query(sql.sweep)
      return writtenRows.length > 0 && version
    },

    delete: async (key, { ifVersion } = {}) =>
      (await query(sql.delete, [toOrdered(key), ifVersion ?? null, createVersion()])).length > 0,

    async list(prefix, { after, limit } = {}) {
      const start = toOrdered(prefix)
      const values = [start, getUpperBound(start), after === undefined ? null : toOrdered(after), limit ?? null]
      return readEntries(sql.list, values)
    },

    async increment(key, by, { ttlMs } = {}) {
      checkWrite(key, '', ttlMs, limits)
      const values = [toOrdered(key), by, createVersion(), ttlMs ?? null]
      const [sum] = Number.isSafeInteger(by) ? await query<{ value: string }>(sql.increment, values) : []
      if (sum) return Number(sum.value)
      throw createStorageError('STORAGE_NOT_A_NUMBER', `"${key}" cannot be incremented: not a safe integer.`)
    },

    ...(watch ? { watch: watchers.add } : { getLinked: (key: string) => readEntries(sql.getLinked, [toOrdered(key)]) }),

    async close() {
      watchers.clear()
      await close()
      pool.off?.('error', onLost)
    },
  }
}

/** Returns an idempotent statement that creates the table and its index, for `migrate: false`. */
export function postgresMigration({ table: name }: Pick<PostgresStorageOptions, 'table'> = {}): string {
  const { table, channel } = createNames(name)
  return `DO $$ BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('${channel}'));
  CREATE TABLE IF NOT EXISTS ${table} (
    key text COLLATE "C" PRIMARY KEY,
    value text,
    version text NOT NULL,
    expires_at timestamptz,
    changed_at timestamptz NOT NULL
  );
  CREATE INDEX IF NOT EXISTS ${channel}_changed_at ON ${table} (changed_at);
END $$`
}

/** A row's limits. The longest key, including its escapes, fits into an index entry. */
const LIMITS = { largestValueBytes: 64 * 1024 * 1024, longestKeyBytes: 1_024 }
/** How many writes to make between sweeps of rows that were deleted or expired an hour ago, if nothing polls. */
const SWEEP_AFTER_WRITES = 1_000
/** Maximum number of own versions to remember; more than can be written between two polls. */
const MAX_OWN_VERSIONS = 10_000

/** Returns the table's name in SQL, and a name for its channel and index. Throws a TypeError for a name that would need quotes. */
function createNames(name = 'signalbox_records'): { table: string; channel: string } {
  if (!/^[a-z_][a-z0-9_]{0,40}(?:\.[a-z_][a-z0-9_]{0,40})?$/.test(name))
    throw new TypeError('table must be a lowercase name, such as "signalbox_records" or "app.signalbox".')
  return { table: name, channel: name.replace('.', '_') }
}
