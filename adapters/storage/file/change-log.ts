import { type LocalDatabase, type LocalStatement, prepareNumbered, runOnce } from '../sqlite/local-database.ts'
import type { ForeignChanges } from '../sqlite/local-table.ts'

/** The number of commits kept for watchers. */
const MAX_CHANGES = 10_000
const TRIM_INTERVAL = 256
const CHANGES_PER_READ = 500

/** The table `changes`, from which each connection learns which keys other connections' commits have changed. */
export class ChangeLog {
  readonly #database: LocalDatabase
  readonly #writer = crypto.randomUUID()
  readonly #insert: LocalStatement
  readonly #trim: LocalStatement
  readonly #selectLast: LocalStatement
  readonly #selectNew: LocalStatement
  readonly #dataVersion: LocalStatement
  #seenVersion: number | undefined
  #seen: number
  #own: number
  /** The position up to which `hasOthers` has searched. */
  #lastSearch: { version: number | undefined; seq: number }
  #isShared = false

  constructor(database: LocalDatabase) {
    this.#database = database
    this.#insert = prepareNumbered(database, 'INSERT INTO changes (writer, keys) VALUES (?1, ?2) RETURNING seq')
    this.#trim = prepareNumbered(database, 'DELETE FROM changes WHERE seq <= ?1')
    this.#selectLast = database.prepare('SELECT coalesce(max(seq), 0) AS seq FROM changes')
    this.#selectNew = prepareNumbered(
      database,
      `SELECT seq, writer, keys FROM changes WHERE seq > ?1 ORDER BY seq LIMIT ${CHANGES_PER_READ}`,
    )
    this.#dataVersion = database.prepare('PRAGMA data_version')
    this.#seenVersion = this.#readVersion()
    this.#seen = this.#readLast()
    this.#own = this.#seen
    this.#lastSearch = { version: this.#seenVersion, seq: this.#seen }
  }

  /** Adds the keys that a transaction has changed, before it is committed. */
  add(keys: readonly string[]): void {
    const [change] = this.#insert.all(this.#writer, JSON.stringify(keys)) as Array<{ seq: number }> // the statement returns `seq`
    this.#own = change?.seq ?? this.#own
    if (this.#own % TRIM_INTERVAL === 0) this.#trim.all(this.#own - MAX_CHANGES)
  }

  /** Undoes an `add` whose transaction was rolled back. Later changes are read again; this connection's own are skipped by their writer ID. */
  undo(): void {
    this.#own = this.#seen
  }

  /** Makes `read` skip everything up to now. */
  skip(): void {
    this.#seenVersion = this.#readVersion()
    this.#seen = this.#readLast()
  }

  /** Returns the changes that other connections have made since the last call. */
  read(): ForeignChanges {
    const version = this.#readVersion()
    const keys: string[] = []
    if (version === this.#seenVersion) {
      this.#seen = Math.max(this.#seen, this.#own) // only this connection has written in the meantime
      return { keys, isGap: false }
    }
    this.#seenVersion = version
    let isGap = false
    for (let isMore = true; isMore; ) {
      const rows = this.#selectNew.all(this.#seen) as Array<{ seq: number; writer: string; keys: string }>
      for (const row of rows) {
        isGap ||= row.seq !== this.#seen + 1
        this.#seen = row.seq
        if (row.writer === this.#writer) continue
        const changed = parseKeys(row.keys)
        if (changed) keys.push(...changed)
        else isGap = true
      }
      isMore = rows.length === CHANGES_PER_READ
    }
    return { keys, isGap }
  }

  /** Returns whether another connection has changed anything since this connection was opened. */
  hasOthers(): boolean {
    if (this.#isShared) return true
    const version = this.#readVersion()
    if (version === this.#lastSearch.version) return false
    const [row] = runOnce(
      this.#database,
      `SELECT 1 FROM changes WHERE seq > ${this.#lastSearch.seq} AND writer <> '${this.#writer}' LIMIT 1`,
    )
    this.#lastSearch = { version, seq: this.#readLast() }
    this.#isShared = row !== undefined
    return this.#isShared
  }

  /** Returns a number that changes only when other connections commit. */
  #readVersion(): number | undefined {
    return (this.#dataVersion.all() as Array<{ data_version: number }>)[0]?.data_version
  }

  #readLast(): number {
    return (this.#selectLast.all() as Array<{ seq: number }>)[0]?.seq ?? 0
  }
}

/** Parses one commit's keys. Returns `undefined` if they can't be read. */
function parseKeys(text: string): string[] | undefined {
  try {
    const keys: unknown = JSON.parse(text)
    return Array.isArray(keys) ? keys.map(String) : undefined
  } catch {
    return undefined
  }
}
