import type { Stored } from '../../../src/index.ts'
import { fromOrdered, getUpperBound, toOrdered } from '../lib/ordered-text.ts'
import type { Row } from '../lib/row-operations.ts'
import { type LocalDatabase, prepareNumbered, runOnce } from './local-database.ts'
import type { LocalTable } from './local-table.ts'
import { isRelaxedVersion } from './sqlite-engine.ts'

/** Returns the statements that create the table. Each row has the number of its last change; deleted rows remain for a while, without a value. */
export const createNumberedTable = (table: string): string[] => [
  `CREATE TABLE IF NOT EXISTS ${table} (key TEXT PRIMARY KEY NOT NULL, value TEXT, version TEXT NOT NULL, expires_at REAL, seq INTEGER NOT NULL)`,
  `CREATE INDEX IF NOT EXISTS ${table}_seq ON ${table} (seq)`,
]

/** Returns SQL for the next change number. It is unique and greater than all earlier ones, because SQLite serializes writes. */
export const buildNextNumberSql = (table: string): string => `(SELECT coalesce(max(seq), 0) + 1 FROM ${table})`

/** Returns the SQL condition for a row that is neither deleted nor expired at the given time. */
export const isLive = (now: string): string => `value IS NOT NULL AND (expires_at IS NULL OR expires_at > ${now})`

/** The number of changes kept for watchers. */
export const MAX_CHANGES = 10_000

/** The number of rows that one sweep checks. */
const ROWS_PER_SWEEP = 500

interface NumberedRow {
  key: string
  value: string
  version: string
  expires_at: number | null
}

/** Opens `sqliteStorage`'s table in an in-process database; creates it if it doesn't exist. */
export function openNumberedTable(database: LocalDatabase, table: string): LocalTable {
  for (const sql of createNumberedTable(table)) runOnce(database, sql)
  const prepare = (sql: string) => prepareNumbered(database, sql)
  const get = prepare(`SELECT value, version, expires_at FROM ${table} WHERE key = ?1 AND ${isLive('?2')}`)
  const preparePage = (comparison: string) =>
    prepare(
      `SELECT key, value, version FROM ${table} WHERE key ${comparison} ?1 AND key < ?2 AND ${isLive('?3')} ORDER BY key LIMIT ?4`,
    )
  const [from, behind] = [preparePage('>='), preparePage('>')]
  const put = prepare(
    `INSERT INTO ${table} (key, value, version, expires_at, seq) VALUES (?1, ?2, ?3, ?4, ${buildNextNumberSql(table)}) ON CONFLICT (key) DO UPDATE SET value = excluded.value, version = excluded.version, expires_at = excluded.expires_at, seq = excluded.seq`,
  )
  const remove = prepare(
    `UPDATE ${table} SET value = NULL, expires_at = NULL, seq = ${buildNextNumberSql(table)} WHERE key = ?1 RETURNING version`,
  )
  const selectLast = prepare(`SELECT coalesce(max(seq), 0) AS seq FROM ${table}`)
  const selectChanges = prepare(`SELECT key, seq FROM ${table} WHERE seq > ?1 ORDER BY seq`)
  const sweptUpTo = prepare(`SELECT key FROM ${table} WHERE key > ?1 ORDER BY key LIMIT 1 OFFSET ${ROWS_PER_SWEEP}`)
  const sweep = prepare(
    `DELETE FROM ${table} WHERE key > ?1 AND (?2 IS NULL OR key <= ?2) AND NOT (${isLive('?3')}) AND seq < (SELECT max(seq) FROM ${table}) - ${MAX_CHANGES}`,
  )
  let swept = ''
  // The statements select these columns.
  const readLast = () => (selectLast.all() as Array<{ seq: number }>)[0]?.seq ?? 0
  let seen = readLast()

  return {
    get(key, now) {
      const [found] = get.all(toOrdered(key), now) as NumberedRow[]
      return found && toRow(found)
    },

    page({ prefix, after }, limit, now) {
      const start = toOrdered(prefix)
      const isBehind = after !== undefined && after >= prefix
      const statement = isBehind ? behind : from
      const found = statement.all(
        isBehind ? toOrdered(after) : start,
        getUpperBound(start),
        now,
        limit,
      ) as NumberedRow[]
      return found.map(({ key, value, version }): Stored & { key: string } => ({
        key: fromOrdered(key),
        value,
        version,
      }))
    },

    put: (key, { value, version, expiresAt }) => void put.all(toOrdered(key), value, version, expiresAt ?? null),

    remove(key) {
      const [removed] = remove.all(toOrdered(key)) as Array<{ version: string }>
      return { isRelaxed: removed !== undefined && isRelaxedVersion(removed.version) }
    },

    begin() {},
    finish() {},
    undo() {},

    skipChanges() {
      seen = readLast()
    },

    takeChanges() {
      const keys: string[] = []
      for (const { key, seq } of selectChanges.all(seen) as Array<{ key: string; seq: number }>) {
        seen = seq
        keys.push(fromOrdered(key))
      }
      return { keys, isGap: false }
    },

    sweep(now) {
      const [last] = sweptUpTo.all(swept) as Array<{ key: string }>
      sweep.all(swept, last?.key ?? null, now)
      swept = last?.key ?? ''
      return false
    },
  }
}

const toRow = ({ value, version, expires_at }: NumberedRow): Row =>
  expires_at === null ? { value, version } : { value, version, expiresAt: expires_at }
