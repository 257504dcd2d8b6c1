import { fromOrdered } from '../lib/ordered-text.ts'
import { pause, poll } from '../lib/poll.ts'
import type { PostgresClient, PostgresPool } from './postgres-pool.ts'
import type { createStatements } from './postgres-statements.ts'

interface WatchedTable {
  query<Row>(text: string, values?: unknown[]): Promise<Row[]>
  pollMs: number
  sql: ReturnType<typeof createStatements>
  channel: string
  /** The pool that listens; without `connect`, only polling finds changes. */
  pool: Pick<PostgresPool, 'connect'>
  /** The latest versions that this process wrote, which polling doesn't report. */
  ownVersions: ReadonlySet<string>
  notify(key: string): void
  /** Warns about the pool: why it can't listen, and what to do. */
  warn(reason: string, remedy: string): void
}

/** Reports a table's changes, from both polling and notifications, until the returned function is called. */
export function watchTable(table: WatchedTable): () => void {
  const stopPolling = pollChanges(table)
  const stopListening = listenForChanges(table)
  return () => {
    stopPolling()
    stopListening()
  }
}

/**
 * Polls the table for changes. Each poll also covers the five seconds before the last poll, because a transaction that starts earlier may commit
 * later.
 */
function pollChanges({ query, sql, pollMs, ownVersions, notify }: WatchedTable): () => void {
  const watchedAt = performance.now()
  let start: string | undefined
  let since: string | undefined
  let seen = new Map<string, string>()
  let pollCount = 0

  /** Returns the server's time when the watch began, or slightly earlier. */
  async function readStart(): Promise<string | undefined> {
    const [row] = await query<{ now: string }>('SELECT clock_timestamp()::text AS now')
    const startSql = `SELECT ($1::timestamptz - $2::float8 * interval '1 millisecond')::text AS now`
    return row && (await query<{ now: string }>(startSql, [row.now, performance.now() - watchedAt]))[0]?.now
  }

  async function pollTable(): Promise<void> {
    const thisPoll = ++pollCount
    start ??= await readStart()
    since ??= start
    const changes = await query<{ key: string; version: string; now: string }>(sql.changed, [since, start])
    if (thisPoll !== pollCount) return // another poll has started, which finds the same changes
    const previous = seen
    seen = new Map(changes.map(({ key, version }) => [key, version]))
    for (const [key, version] of seen)
      if (previous.get(key) !== version && !ownVersions.has(version)) notify(fromOrdered(key))
    since = changes[0]?.now ?? since
    if (pollCount % SWEEP_INTERVAL === 0) await query(sql.sweep)
  }

  return poll(pollTable, pollMs, POLL_TIMEOUT_MS)
}

/** Listens for notifications on one of the pool's connections. Reconnects if it is lost. */
function listenForChanges({ query, pool, channel, pollMs, notify, warn }: WatchedTable): () => void {
  let hasEnded = false
  let listener: PostgresClient | undefined
  let isListening = false
  let listenAgainAt = 0

  async function listen(): Promise<void> {
    if (listener || !pool.connect || performance.now() < listenAgainAt) return
    const client = await pool.connect()
    const dropListener = () => {
      if (listener !== client) return
      listener = undefined
      client.release(true)
    }
    if (hasEnded) return client.release(true)
    listener = client
    let hasArrived = false
    client.on('error', dropListener)
    client.on('end', dropListener)
    client.on('notification', ({ payload }) => {
      if (payload === '') hasArrived = true
      else if (payload && !hasEnded) notify(fromOrdered(payload))
    })
    try {
      await client.query(`LISTEN "${channel}"`)
      await query(`SELECT pg_notify('${channel}', '')`) // notifies with an empty string, which is never a key
      for (let tries = 0; !hasArrived && tries < 50; tries++) await pause(20)
    } catch {
      return dropListener()
    }
    isListening ||= hasArrived
    if (hasArrived || hasEnded || listener !== client) return
    dropListener()
    if (isListening) return // the pool can listen, so only the connection has failed
    listenAgainAt = performance.now() + NO_NOTIFICATIONS_MS
    warn(
      'receives no notifications, perhaps because of a transaction-mode pooler',
      'Pass `listen: false`, or a pool without the pooler: `listen: directPool`.',
    )
  }

  const stop = poll(listen, pollMs)
  return () => {
    hasEnded = true
    stop()
    listener?.release(true)
    listener = undefined
  }
}

/** How long to wait for a poll, in ms. A slower poll may have silently lost its connection, so the next poll starts anyway. */
const POLL_TIMEOUT_MS = 2_000
/** How long to wait before retrying a pool that received no notification, in ms, because the server may have been slow. */
const NO_NOTIFICATIONS_MS = 60_000
/** How many polls to make between sweeps of rows that were deleted or expired an hour ago. */
const SWEEP_INTERVAL = 300
