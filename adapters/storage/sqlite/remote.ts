import type { Clock, Storage, Stored } from '../../../src/index.ts'
import { fromOrdered, getUpperBound, toOrdered } from '../lib/ordered-text.ts'
import { createStorageError } from '../lib/storage-error.ts'
import { createSweepTurn } from '../lib/sweep-turn.ts'
import type { SqlValue } from './local-database.ts'
import { buildNextNumberSql, createNumberedTable, isLive, MAX_CHANGES } from './numbered-table.ts'
import { retryWhileBusy } from './sqlite-errors.ts'

/** A Cloudflare D1 database. */
export interface D1Database {
  prepare(sql: string): { bind(...values: unknown[]): { all(): Promise<{ results: unknown[] }> } }
  batch(statements: never[]): Promise<unknown>
}

/** A client from `@libsql/client`. */
export interface LibsqlClient {
  execute(statement: { sql: string; args: SqlValue[] }): Promise<{ rows: unknown[] }>
}

/** The largest safe integer. */
const MAX_SUM = '9007199254740991'
const BUSY_MS = 5_000
/** How many writes to make between sweeps of rows that were deleted or expired long ago. */
const SWEEP_INTERVAL = 1_000

/** Options for `createRemoteStorage`. */
export interface RemoteDatabaseOptions {
  all(sql: string, values: SqlValue[]): Promise<unknown[]>
  table: string
  clock: Pick<Clock, 'now'>
  checkWrite(key: string, value: string, ttlMs: number | undefined): void
  toError(cause: unknown): Error
}

/**
 * Implements `Storage` on a remote database, with one statement per operation. The database isn't watched, because each poll would be a network call.
 */
export function createRemoteStorage({ all, table, clock, checkWrite, toError }: RemoteDatabaseOptions): Storage {
  const running = new Set<Promise<unknown>>()
  let preparing: Promise<unknown> | undefined
  let isClosed = false

  async function run<Row>(sql: string, values: SqlValue[]): Promise<Row[]> {
    const wait = { name: `the database of ${table}`, timeoutMs: BUSY_MS, toError }
    return (await retryWhileBusy(() => all(sql, values), wait)) as Row[] // the statement selects these columns
  }

  async function query<Row>(sql: string, values: SqlValue[]): Promise<Row[]> {
    if (isClosed) throw createStorageError('STORAGE_CLOSED', `The store in ${table} was closed.`)
    const work = run<Row>(sql, values).catch(async (error: unknown) => {
      if (!/no such table/i.test(`${Object(error).cause}`)) throw error
      preparing ??= prepare().finally(() => {
        preparing = undefined
      })
      await preparing
      return run<Row>(sql, values)
    })
    const settled: Promise<unknown> = work.catch(() => {}).finally(() => running.delete(settled))
    running.add(settled)
    return work
  }

  /** Reads the entries whose keys meet a condition. The second value is the time. */
  async function readEntries(condition: string, values: SqlValue[]): Promise<Array<Stored & { key: string }>> {
    const sql = `SELECT key, value, version FROM ${table} WHERE ${isLive('?2')} AND key ${condition}`
    const rows = await query<Stored & { key: string }>(sql, values)
    return rows.map(({ key, value, version }) => ({ key: fromOrdered(key), value, version }))
  }

  async function prepare(): Promise<void> {
    for (const sql of createNumberedTable(table)) await run(sql, [])
  }

  const NEXT_NUMBER_SQL = buildNextNumberSql(table)
  const OVERWRITE_SQL =
    'value = excluded.value, version = excluded.version, expires_at = excluded.expires_at, seq = excluded.seq'
  const SET_SQL = `INSERT INTO ${table} (key, value, version, expires_at, seq) VALUES (?1, ?2, ?3, ?4, ${NEXT_NUMBER_SQL}) ON CONFLICT (key) DO UPDATE SET ${OVERWRITE_SQL}`
  /** The condition for a repeated write. The network may deliver a write twice; the second time, the row has its version. */
  const IS_REPEATED_SQL = 'version = ?3'
  const CREATE_SQL = `${SET_SQL} WHERE ${IS_REPEATED_SQL} OR NOT (${isLive('?5')}) RETURNING version`
  const REPLACE_SQL = `UPDATE ${table} SET value = ?2, version = ?3, expires_at = ?4, seq = ${NEXT_NUMBER_SQL} WHERE key = ?1 AND (${IS_REPEATED_SQL} OR version = ?6 AND ${isLive('?5')}) RETURNING version`
  const DELETE_SQL = `UPDATE ${table} SET value = NULL, version = ?3, expires_at = NULL, seq = ${NEXT_NUMBER_SQL} WHERE key = ?1 AND (${IS_REPEATED_SQL} OR (?2 IS NULL OR version = ?2) AND ${isLive('?4')}) RETURNING key`
  const IS_INTEGER_SQL = `(value GLOB '[0-9]*' OR value GLOB '-[0-9]*') AND substr(value, 2) NOT GLOB '*[^0-9]*' AND length(value) <= 17`
  const SUM_SQL = '(CAST(value AS INTEGER) + ?2)'
  const INCREMENT_SQL = `INSERT INTO ${table} (key, value, version, expires_at, seq) VALUES (?1, CAST(CAST(?2 AS INTEGER) AS TEXT), ?3, ?4, ${NEXT_NUMBER_SQL}) ON CONFLICT (key) DO UPDATE SET value = CASE WHEN ${IS_REPEATED_SQL} THEN value WHEN ${isLive('?5')} THEN CAST(CAST(${SUM_SQL} AS INTEGER) AS TEXT) ELSE excluded.value END, version = excluded.version, expires_at = CASE WHEN ${IS_REPEATED_SQL} OR ${isLive('?5')} THEN expires_at ELSE excluded.expires_at END, seq = excluded.seq WHERE ${IS_REPEATED_SQL} OR NOT (${isLive('?5')}) OR (${IS_INTEGER_SQL} AND abs(CAST(value AS INTEGER)) <= ${MAX_SUM} AND abs${SUM_SQL} <= ${MAX_SUM}) RETURNING value`
  const LINKED_SQL = `IN (SELECT ?1 UNION ALL SELECT link.value FROM ${table} AS list, json_each('["' || replace(list.value, char(10), '","') || '"]') AS link WHERE list.key = ?1 LIMIT 33)`
  const SWEEP_SQL = `DELETE FROM ${table} WHERE NOT (${isLive('?1')}) AND seq < (SELECT max(seq) FROM ${table}) - ${MAX_CHANGES}`

  const isSweepDue = createSweepTurn(SWEEP_INTERVAL)

  return {
    atomic: true,

    async get(key) {
      const [found] = await readEntries('= ?1', [toOrdered(key), clock.now()])
      return found && { value: found.value, version: found.version }
    },

    async set(key, value, { ifVersion, ttlMs } = {}) {
      checkWrite(key, value, ttlMs)
      const version = crypto.randomUUID()
      const now = clock.now()
      const values = [toOrdered(key), value, version, ttlMs === undefined ? null : now + ttlMs]
      let done: unknown[]
      if (ifVersion === undefined) done = await query(`${SET_SQL} RETURNING version`, values)
      else if (ifVersion === null) done = await query(CREATE_SQL, [...values, now])
      else done = await query(REPLACE_SQL, [...values, now, ifVersion])
      if (isSweepDue()) await query(SWEEP_SQL, [clock.now()])
      return done.length > 0 && version
    },

    delete: async (key, { ifVersion } = {}) =>
      (await query(DELETE_SQL, [toOrdered(key), ifVersion ?? null, crypto.randomUUID(), clock.now()])).length > 0,

    async list(prefix, { after, limit } = {}) {
      const start = toOrdered(prefix)
      const isBehind = after !== undefined && after >= prefix
      const values = [isBehind ? toOrdered(after) : start, clock.now(), getUpperBound(start), limit ?? -1]
      const condition = `${isBehind ? '>' : '>='} ?1 AND key < ?3 ORDER BY key LIMIT ?4`
      return readEntries(condition, values)
    },

    getLinked: (key) => readEntries(LINKED_SQL, [toOrdered(key), clock.now()]),

    async increment(key, by, { ttlMs } = {}) {
      checkWrite(key, '', ttlMs)
      const now = clock.now()
      const values = [toOrdered(key), by, crypto.randomUUID(), ttlMs === undefined ? null : now + ttlMs, now]
      const [sum] = Number.isSafeInteger(by) ? await query<{ value: string }>(INCREMENT_SQL, values) : []
      if (sum) return Number(sum.value)
      throw createStorageError(
        'STORAGE_NOT_A_NUMBER',
        `"${key}" cannot be incremented because its value, the step, or the sum is not a safe integer.`,
      )
    },

    async close() {
      await Promise.all(running)
      isClosed = true
    },
  }
}
