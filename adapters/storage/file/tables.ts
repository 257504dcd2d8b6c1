import { crc32 } from 'node:zlib'
import type { Stored } from '../../../src/index.ts'
import { fromOrdered, getUpperBound, toOrdered } from '../lib/ordered-text.ts'
import type { Row } from '../lib/row-operations.ts'
import { type LocalDatabase, prepareNumbered } from '../sqlite/local-database.ts'
import type { ForeignChanges, KeyRange, LocalTable } from '../sqlite/local-table.ts'
import { isRelaxedVersion } from '../sqlite/sqlite-engine.ts'
import { ChangeLog } from './change-log.ts'
import { createCorruptError } from './file-schema.ts'

const ROWS_PER_SWEEP = 100
const ROWS_PER_CHECK = 1_000

interface RecordRow {
  key: string
  /** 1 if the row is in `records`, 0 if it is in `entries`. */
  lasts: 0 | 1
  expires_at: number | null
  version: string
  sum: number
  value: string
}

/** The progress of checking all records. */
export interface Verification {
  after: string
  count: number
  total: number
}

/** The file store's tables. Each method throws `STORAGE_CORRUPT` for a row that differs from what was written. */
export class Tables implements LocalTable {
  readonly #path: string
  readonly #statements: ReturnType<typeof prepareStatements>
  readonly #log: ChangeLog
  /** This transaction's changes to `count` and `total` in `meta`. */
  #added = 0
  #total = 0
  /** The row that an operation has looked up and is about to write. */
  #lastLookup: { at: string; found: RecordRow | undefined } | undefined

  constructor(database: LocalDatabase, path: string) {
    this.#path = path
    this.#statements = prepareStatements(database)
    this.#log = new ChangeLog(database)
  }

  begin(): void {
    this.#lastLookup = undefined
  }

  get(key: string, now: number): Row | undefined {
    const orderedKey = toOrdered(key)
    const found = this.#find(orderedKey)
    if (!found || (found.expires_at !== null && found.expires_at <= now)) return undefined
    return this.#toRow(orderedKey, found)
  }

  page({ prefix, after }: KeyRange, limit: number, now: number): Array<Stored & { key: string }> {
    const { pageFrom, pageAfter } = this.#statements
    const start = toOrdered(prefix)
    const rows = (
      after !== undefined && after >= prefix
        ? pageAfter.all(toOrdered(after), getUpperBound(start), now, limit)
        : pageFrom.all(start, getUpperBound(start), now, limit)
    ) as RecordRow[]
    return rows.map((found) => {
      const { value, version } = this.#toRow(found.key, found)
      return { key: fromOrdered(found.key), value, version }
    })
  }

  put(key: string, { value, version, expiresAt }: Row, isRelaxed: boolean): void {
    const { putRecord, putEntry } = this.#statements
    const orderedKey = toOrdered(key)
    const existing = this.#findCached(orderedKey)
    const lasts = expiresAt === undefined && !isRelaxed
    const row = { expires_at: expiresAt ?? null, version, value }
    const sum = checksum(orderedKey, row)
    if (existing && existing.lasts !== Number(lasts)) this.#drop(orderedKey, existing)
    if (lasts) {
      putRecord.all(orderedKey, version, sum, value)
      if (!existing?.lasts) this.#added++
      this.#total += sum - (existing?.lasts ? existing.sum : 0)
    } else putEntry.all(orderedKey, row.expires_at, version, sum, value)
    this.#lastLookup = undefined
  }

  remove(key: string): { isRelaxed: boolean } {
    const orderedKey = toOrdered(key)
    const existing = this.#findCached(orderedKey)
    if (existing) this.#drop(orderedKey, existing)
    this.#lastLookup = undefined
    return { isRelaxed: existing !== undefined && isRelaxedVersion(existing.version) }
  }

  finish(keys: readonly string[]): void {
    this.#log.add(keys)
    if (this.#added !== 0 || this.#total !== 0) this.#statements.addToMeta.all(this.#added, this.#total)
    this.#added = 0
    this.#total = 0
  }

  undo(): void {
    this.#log.undo()
    this.#added = 0
    this.#total = 0
  }

  skipChanges(): void {
    this.#log.skip()
  }

  takeChanges(): ForeignChanges {
    return this.#log.read()
  }

  /** Returns whether another connection has changed anything since the tables were opened. */
  hasOthers(): boolean {
    return this.#log.hasOthers()
  }

  sweep(now: number): boolean {
    return this.#statements.sweep.all(now).length === ROWS_PER_SWEEP
  }

  /** Returns the secret's fingerprint, if the store has one. */
  getSecretFingerprint(): string | undefined {
    return this.#readMeta()?.secret_mark ?? undefined
  }

  /** Sets the fingerprint, inside the caller's transaction. */
  setSecretFingerprint(fingerprint: string): void {
    this.#statements.setSecretFingerprint.all(fingerprint)
  }

  /** Checks the next part of `records` and, after the last one, their count and total. Returns whether there is more to check. */
  verify(state: Verification): boolean {
    const rows = this.#statements.verify.all(state.after) as RecordRow[]
    for (const row of rows) {
      this.#toRow(row.key, row)
      state.after = row.key
      state.count++
      state.total += row.sum
    }
    if (rows.length === ROWS_PER_CHECK) return true
    const existing = this.#readMeta()
    if (existing?.count !== state.count || existing.total !== state.total)
      throw createCorruptError(
        this.#path,
        `it contains ${state.count} records, which do not match the ${existing?.count} that were written`,
      )
    return false
  }

  #find(orderedKey: string): RecordRow | undefined {
    const [found] = this.#statements.find.all(orderedKey, orderedKey) as RecordRow[]
    this.#lastLookup = { at: orderedKey, found }
    return found
  }

  #findCached(orderedKey: string): RecordRow | undefined {
    return this.#lastLookup?.at === orderedKey ? this.#lastLookup.found : this.#find(orderedKey)
  }

  #drop(orderedKey: string, found: RecordRow): void {
    const { removeRecord, removeEntry } = this.#statements
    if (found.lasts) {
      removeRecord.all(orderedKey)
      this.#added--
      this.#total -= found.sum
    } else removeEntry.all(orderedKey)
  }

  #toRow(orderedKey: string, found: RecordRow): Row {
    const { version, expires_at, sum, value } = found
    if (typeof value !== 'string' || checksum(orderedKey, found) !== sum)
      throw createCorruptError(this.#path, `"${fromOrdered(orderedKey).slice(0, 100)}" does not match what was written`)
    return expires_at === null ? { value, version } : { value, version, expiresAt: expires_at }
  }

  #readMeta() {
    const rows = this.#statements.meta.all() as Array<{ count: number; total: number; secret_mark: string | null }>
    return rows[0]
  }
}

function prepareStatements(database: LocalDatabase) {
  const prepare = (sql: string) => prepareNumbered(database, sql)
  const columns = '1 AS lasts, NULL AS expires_at, version, sum, value FROM records'
  const entryColumns = '0 AS lasts, expires_at, version, sum, value FROM entries'
  const listPage = (comparison: string) =>
    prepare(
      `SELECT key, ${entryColumns} WHERE key ${comparison} ?1 AND key < ?2 AND (expires_at IS NULL OR expires_at > ?3) UNION ALL SELECT key, ${columns} WHERE key ${comparison} ?1 AND key < ?2 ORDER BY key LIMIT ?4`,
    )
  return {
    find: prepare(`SELECT ${entryColumns} WHERE key = ?1 UNION ALL SELECT ${columns} WHERE key = ?2`),
    pageFrom: listPage('>='),
    pageAfter: listPage('>'),
    putRecord: prepare(
      'INSERT INTO records (key, version, sum, value) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (key) DO UPDATE SET version = excluded.version, sum = excluded.sum, value = excluded.value',
    ),
    putEntry: prepare(
      'INSERT INTO entries (key, expires_at, version, sum, value) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (key) DO UPDATE SET expires_at = excluded.expires_at, version = excluded.version, sum = excluded.sum, value = excluded.value',
    ),
    removeRecord: prepare('DELETE FROM records WHERE key = ?1'),
    removeEntry: prepare('DELETE FROM entries WHERE key = ?1'),
    meta: prepare('SELECT count, total, secret_mark FROM meta'),
    addToMeta: prepare('UPDATE meta SET count = count + ?1, total = total + ?2'),
    setSecretFingerprint: prepare('UPDATE meta SET secret_mark = ?1'),
    sweep: prepare(
      `DELETE FROM entries WHERE key IN (SELECT key FROM entries WHERE expires_at <= ?1 LIMIT ${ROWS_PER_SWEEP}) RETURNING 1`,
    ),
    verify: prepare(`SELECT key, ${columns} WHERE key > ?1 ORDER BY key LIMIT ${ROWS_PER_CHECK}`),
  }
}

/** Returns a row's checksum. `orderedKey` is its key, escaped for the database's order. */
function checksum(
  orderedKey: string,
  { expires_at, version, value }: Pick<RecordRow, 'expires_at' | 'version' | 'value'>,
): number {
  return crc32(value, crc32(`${orderedKey}\n${version}\n${expires_at ?? ''}\n`))
}
