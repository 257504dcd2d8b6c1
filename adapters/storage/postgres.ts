import type { Logger, Storage } from '../../src/index.ts'
import { checkOptions } from '../lib/check-options.ts'
import { fromOrdered, getUpperBound, toOrdered } from './lib/ordered-text.ts'
import { pause, poll } from './lib/poll.ts'
import { createStorageError } from './lib/storage-error.ts'
import { checkWrite } from './lib/value-limits.ts'
import { createWatchers } from './lib/watchers.ts'

/** The part of a `pg` pool that the storage needs, or anything with the same `query`, such as PGlite. */
export interface PostgresPool {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>
  /** For `LISTEN`; without it, `watch` polls. */
  connect?(): Promise<PostgresClient>
  /** A `pg` pool emits `error` when it loses an idle connection; without a listener, that crashes the process. */
  on?(event: 'error', listener: () => void): unknown
  off?(event: 'error', listener: () => void): unknown
  /** The maximum number of connections of a `pg` pool. */
  options?: { max?: number }
}

/** One connection of a pool. */
export interface PostgresClient {
  query(text: string): Promise<unknown>
  on(event: 'notification', listener: (message: { payload?: string | undefined }) => void): unknown
  on(event: 'error' | 'end', listener: (error?: Error) => void): unknown
  release(destroy?: boolean): void
}

/** Options for `postgresStorage`. */
export interface PostgresStorageOptions {
  /** The name of the table, optionally with its schema: `app.signalbox`. Default `signalbox_records`. */
  table?: string
  /** Creates a missing table. Default `true`; `false` if you run `postgresMigration()` yourself. */
  migrate?: boolean
  /**
   * The pool whose connection listens for changes; default: the same pool, if it has more than one connection. `false` if no connection can listen,
   * as behind a pooler in transaction mode: then only polling finds other processes' changes.
   */
  listen?: Pick<PostgresPool, 'connect'> | false
  /** How often to poll the table for changes, in ms; default 1,000, or 750 with `listen: false`. */
  pollMs?: number
  /** Receives a warning if the pool receives no notifications; default: the console. `false` drops the warning. */
  logger?: Logger | false
}

/**
 * Stores all data in one Postgres table. Atomic for all processes that use the table; a write resolves once Postgres has committed it.
 * `close()` leaves your pool open. Errors have a `code` (`STORAGE_…`). Throws a TypeError for invalid options.
 */
export function postgresStorage(pool: PostgresPool, options: PostgresStorageOptions = {}): Storage {
  checkOptions(options, { table: true, migrate: true, listen: true, pollMs: true, logger: true })
  if (typeof pool?.query !== 'function') throw new TypeError('postgresStorage takes a pg pool: new pg.Pool({ … }).')
  const { migrate = true, logger = console } = options
  const isSingle = pool.options?.max === 1 && (options.listen ?? pool) === pool
  const listen = isSingle ? false : (options.listen ?? pool)
  const { pollMs = listen === false ? 750 : 1_000 } = options // together with the time of a query, it stays below a second
  const { table, channel } = createNames(options.table)
  const limits = { ...LIMITS, store: `The table ${table}`, lacksNul: true }
  const onLost = () => {} // the pool opens another connection for the next query
  pool.on?.('error', onLost)
  const watchers = createWatchers(watchTable)
  const running = new Set<Promise<unknown>>()
  const own = new Set<string>() // the latest versions that this object wrote, which polling doesn't report
  let isClosed = false
  let isWarned = false
  let preparing: Promise<unknown> | undefined

  async function query<Row>(text: string, values: unknown[]): Promise<Row[]> {
    if (isClosed) throw createStorageError('STORAGE_CLOSED', `The table ${table} was closed.`)
    if (migrate) {
      preparing ??= pool.query(postgresMigration(options)).catch((cause: unknown) => {
        preparing = undefined
        throw cause
      })
    }
    const work = Promise.resolve(preparing).then(() => pool.query(text, values))
    running.add(work)
    try {
      return (await work).rows as Row[] // the statement selects these columns
    } catch (cause) {
      throw failure(cause, table)
    } finally {
      running.delete(work)
    }
  }

  function warn([why, remedy]: typeof NO_NOTIFICATIONS | typeof SINGLE): void {
    if (logger && !isWarned)
      logger.warn(
        `The pool of the table ${table} ${why}. Changes by other instances are seen within ${pollMs} ms. ${remedy}`,
      )
    isWarned = true
  }

  const LIVE = 'r.value IS NOT NULL AND (r.expires_at IS NULL OR r.expires_at > clock_timestamp())'
  /** Builds a statement that makes a change and notifies listeners. */
  const notifying = (change: string, result: string) =>
    `WITH changed AS (${change}) SELECT ${result}, pg_notify('${channel}', key) FROM changed`
  const COLUMNS = '(key, value, version, expires_at, changed_at)'
  const row = (key: string, value: string, version: string, ttl: string) =>
    `(${key}, ${value}, ${version}, clock_timestamp() + ${ttl} * interval '1 millisecond', clock_timestamp())`
  const OVERWRITTEN =
    'value = excluded.value, version = excluded.version, expires_at = excluded.expires_at, changed_at = excluded.changed_at'
  const inserted = (where: string) =>
    notifying(
      `INSERT INTO ${table} AS r ${COLUMNS} VALUES ${row('$1', '$2', '$3', '$4::float8')} ON CONFLICT (key) DO UPDATE SET ${OVERWRITTEN}${where} RETURNING key, version`,
      'version',
    )
  const SET = inserted('')
  const CREATE = inserted(` WHERE NOT (${LIVE})`)
  const REPLACE = notifying(
    `UPDATE ${table} AS r SET value = $2, version = $3, expires_at = clock_timestamp() + $4::float8 * interval '1 millisecond', changed_at = clock_timestamp() WHERE r.key = $1 AND r.version = $5 AND ${LIVE} RETURNING key, version`,
    'version',
  )
  const DELETE = notifying(
    `UPDATE ${table} AS r SET value = NULL, version = $3, expires_at = NULL, changed_at = clock_timestamp() WHERE r.key = $1 AND ($2::text IS NULL OR r.version = $2) AND ${LIVE} RETURNING key`,
    'key',
  )
  const SUM = `CASE WHEN r.value ~ '^-?[0-9]{1,16}$' THEN r.value::bigint + $2::bigint END`
  const INCREMENT = notifying(
    `INSERT INTO ${table} AS r ${COLUMNS} VALUES ${row('$1', '$2::bigint::text', '$3', '$4::float8')} ON CONFLICT (key) DO UPDATE SET value = CASE WHEN ${LIVE} THEN (${SUM})::text ELSE excluded.value END, version = excluded.version, expires_at = CASE WHEN ${LIVE} THEN r.expires_at ELSE excluded.expires_at END, changed_at = excluded.changed_at WHERE NOT (${LIVE}) OR (abs(${SUM}) <= ${MAX} AND abs((${SUM}) - $2::bigint) <= ${MAX}) RETURNING key, value`,
    'value',
  )
  const TEXT = "'=' || value" // PGlite drops a byte order mark at the start of a string
  const GET = `SELECT ${TEXT} AS value, version FROM ${table} AS r WHERE key = $1 AND ${LIVE}`
  const LIST = `SELECT key, ${TEXT} AS value, version FROM ${table} AS r WHERE key >= $1 AND key < $2 AND ($3::text IS NULL OR key > $3) AND ${LIVE} ORDER BY key LIMIT $4`
  const CHANGED = `SELECT key, version, clock_timestamp()::text AS now FROM ${table} WHERE changed_at > greatest($1::timestamptz - interval '5 seconds', $2::timestamptz)`
  const SWEEP = `DELETE FROM ${table} AS r WHERE NOT (${LIVE}) AND coalesce(r.expires_at, r.changed_at) < clock_timestamp() - interval '1 hour'`

  /** Creates a new, unique version. */
  function newVersion(): string {
    const version = crypto.randomUUID()
    own.add(version)
    const [oldest] = own
    if (own.size > MAX_OWN_VERSIONS) own.delete(oldest ?? '')
    return version
  }

  /**
   * Reports the changes since the last poll. Each poll also covers the five seconds before the last one, because a transaction that starts earlier
   * may commit later.
   */
  function watchTable(): () => void {
    const watchedAt = performance.now()
    let start: string | undefined
    let since: string | undefined
    let seen = new Map<string, string>()
    let isOver = false
    let listener: PostgresClient | undefined
    let isListening = false
    let listenAgainAt = 0
    let pollCount = 0

    /** Returns the server's time `ms` ago, or slightly earlier. */
    async function readTimeAgo(ms: () => number): Promise<string | undefined> {
      const [row] = await query<{ now: string }>('SELECT clock_timestamp()::text AS now', [])
      const sql = `SELECT ($1::timestamptz - $2::float8 * interval '1 millisecond')::text AS now`
      return row && (await query<{ now: string }>(sql, [row.now, ms()]))[0]?.now
    }

    async function pollTable(): Promise<void> {
      const thisPoll = ++pollCount
      start ??= await readTimeAgo(() => performance.now() - watchedAt)
      since ??= start
      const changes = await query<{ key: string; version: string; now: string }>(CHANGED, [since, start])
      if (thisPoll !== pollCount) return // another poll has started, which finds the same changes
      const before = seen
      seen = new Map(changes.map(({ key, version }) => [key, version]))
      for (const [key, version] of seen)
        if (before.get(key) !== version && !own.has(version)) watchers.notify(fromOrdered(key))
      since = changes[0]?.now ?? since
      if (pollCount % SWEEP_EVERY === 0) await query(SWEEP, [])
    }

    async function startListening(): Promise<void> {
      if (listener || listen === false || !listen.connect || performance.now() < listenAgainAt) return
      const client = await listen.connect()
      const dropListener = () => {
        if (listener !== client) return
        listener = undefined
        client.release(true)
      }
      if (isOver) return client.release(true)
      listener = client
      let hasArrived = false
      client.on('error', dropListener)
      client.on('end', dropListener)
      client.on('notification', ({ payload }) => {
        if (payload === '') hasArrived = true
        else if (payload && !isOver) watchers.notify(fromOrdered(payload))
      })
      try {
        await client.query(`LISTEN "${channel}"`)
        await query(`SELECT pg_notify('${channel}', '')`, []) // an empty string is never a key
        for (let tries = 0; !hasArrived && tries < 50; tries++) await pause(20)
      } catch {
        return dropListener()
      }
      isListening ||= hasArrived
      if (hasArrived || isOver || listener !== client) return
      dropListener()
      if (isListening) return // the pool can listen, so only the connection has failed
      listenAgainAt = performance.now() + NO_NOTIFICATIONS_MS
      warn(NO_NOTIFICATIONS)
    }

    if (isSingle) warn(SINGLE)
    const stopPoll = poll(pollTable, pollMs, POLL_TIMEOUT_MS)
    const stopListening = poll(startListening, pollMs)
    return () => {
      isOver = true
      stopPoll()
      stopListening()
      listener?.release(true)
      listener = undefined
    }
  }

  return {
    atomic: true,
    ...LIMITS,

    async get(key) {
      const [found] = await query<{ value: string; version: string }>(GET, [toOrdered(key)])
      return found && { value: found.value.slice(1), version: found.version }
    },

    async set(key, value, { ifVersion, ttlMs } = {}) {
      checkWrite(key, value, ttlMs, limits)
      const version = newVersion()
      const values = [toOrdered(key), value, version, ttlMs ?? null]
      const done =
        typeof ifVersion === 'string'
          ? await query(REPLACE, [...values, ifVersion])
          : await query(ifVersion === null ? CREATE : SET, values)
      return done.length > 0 && version
    },

    delete: async (key, { ifVersion } = {}) =>
      (await query(DELETE, [toOrdered(key), ifVersion ?? null, newVersion()])).length > 0,

    async list(prefix, { after, limit } = {}) {
      const start = toOrdered(prefix)
      const values = [start, getUpperBound(start), after === undefined ? null : toOrdered(after), limit ?? null]
      const rows = await query<{ key: string; value: string; version: string }>(LIST, values)
      return rows.map(({ key, value, version }) => ({ key: fromOrdered(key), value: value.slice(1), version }))
    },

    async increment(key, by, { ttlMs } = {}) {
      checkWrite(key, '', ttlMs, limits)
      const values = [toOrdered(key), by, newVersion(), ttlMs ?? null]
      const [sum] = Number.isSafeInteger(by) ? await query<{ value: string }>(INCREMENT, values) : []
      if (sum) return Number(sum.value)
      throw createStorageError('STORAGE_NOT_A_NUMBER', `"${key}" cannot be incremented: not a safe integer.`)
    },

    watch: watchers.add,

    async close() {
      watchers.clear()
      await Promise.allSettled(running)
      isClosed = true
      pool.off?.('error', onLost)
    },
  }
}

/** Returns the statement that creates the table and its index, for `migrate: false`. Running it again changes nothing. */
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

/** The largest safe integer. */
const MAX = '9007199254740991'
/** The longest key that fits into an index entry, including its escapes. */
const LIMITS = { largestValueBytes: 64 * 1024 * 1024, longestKeyBytes: 1_024 }
/** More versions than can be written between two polls. */
const MAX_OWN_VERSIONS = 10_000
/** A poll that takes longer than this may have silently lost its connection, so the next one starts anyway. */
const POLL_TIMEOUT_MS = 2_000
/** How long to wait before retrying a pool that received no notification, because the server may have been slow. */
const NO_NOTIFICATIONS_MS = 60_000
/** The number of polls between two removals of rows that were deleted or expired an hour ago. */
const SWEEP_EVERY = 300

/** Returns the table's name in SQL, and a name for its channel and index. Throws a TypeError for a name that would need quotes. */
function createNames(name = 'signalbox_records'): { table: string; channel: string } {
  if (!/^[a-z_][a-z0-9_]{0,40}(?:\.[a-z_][a-z0-9_]{0,40})?$/.test(name))
    throw new TypeError('table must be a lowercase name, such as "signalbox_records" or "app.signalbox".')
  return { table: name, channel: name.replace('.', '_') }
}

/** The warning about a pool that receives no notifications: why, and what to do. */
const NO_NOTIFICATIONS = [
  'receives no notifications, perhaps because of a transaction-mode pooler',
  'Pass `listen: false`, or a pool without the pooler: `listen: directPool`.',
] as const
const SINGLE = [
  'has one connection, which LISTEN would use',
  'Give the pool more connections, or pass `listen: false`.',
] as const

/** SQLSTATEs of a server that is down, full, busy, or not the primary. After any other SQLSTATE, the same statement would fail again. */
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

function failure(cause: unknown, table: string): Error {
  const { code = '' }: { code?: string } = Object(cause)
  const isAnswer = /^(?!08|E)[0-9A-Z]{5}$/.test(code) // EPIPE is an error code of Node
  const what = `the table ${table}${code && ` (${code})`}. `
  return createStorageError(
    isAnswer && !TRANSIENT_STATES.test(code) ? 'STORAGE_UNREADABLE' : 'STORAGE_UNREACHABLE',
    isAnswer
      ? `Postgres rejected ${what}${ADVICE[code] ?? ADVICE[code.slice(0, 2)] ?? 'Try again, or read its log.'}`
      : `Postgres is unreachable for ${what}Check the pool's address and the server.`,
    cause,
  )
}
