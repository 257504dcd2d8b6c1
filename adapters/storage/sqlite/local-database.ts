/** A value bound to a statement. */
export type SqlValue = string | number | null

/** A compiled statement. */
export interface LocalStatement {
  all(...values: SqlValue[]): unknown[]
}

/** A database in this process, from `node:sqlite` or `bun:sqlite`, whose calls are synchronous. */
export interface LocalDatabase {
  prepare(sql: string): LocalStatement
}

/** Compiles and runs a statement. Returns its rows. */
export function runOnce(database: LocalDatabase, sql: string): unknown[] {
  return database.prepare(sql).all()
}

/** Returns a pragma's value. */
export const readPragma = (database: LocalDatabase, name: string): unknown =>
  Object.values(Object(runOnce(database, `PRAGMA ${name}`)[0]))[0]

/** Compiles a statement. Replaces numbered parameters with unnumbered ones, because Node before 22.15 treats a number as a name. */
export function prepareNumbered(database: LocalDatabase, sql: string): LocalStatement {
  const parameterIndexes: number[] = []
  const text = sql.replaceAll(/\?(\d+)/g, (_, number: string) => {
    parameterIndexes.push(Number(number) - 1)
    return '?'
  })
  const statement = database.prepare(text)
  if (parameterIndexes.every((parameterIndex, index) => parameterIndex === index)) return statement
  return {
    all: (...values) => statement.all(...parameterIndexes.map((parameterIndex) => values[parameterIndex] ?? null)),
  }
}

/** How long SQLite itself waits for a lock, in ms, which blocks the process. After that, the caller waits without blocking. */
const BUSY_TIMEOUT_MS = 2

/**
 * Sets `journal_mode` to WAL, `synchronous` to NORMAL, and `busy_timeout`, except for pragmas that the app has changed from SQLite's defaults.
 * Returns whether commits now reach the disk only with `synchronous = FULL`.
 */
export function setPragmas(database: LocalDatabase): { isRelaxed: boolean } {
  const read = (name: string) => readPragma(database, name)
  if (read('busy_timeout') === 0) runOnce(database, `PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
  if (read('journal_mode') === 'delete') runOnce(database, 'PRAGMA journal_mode = WAL')
  const isOurs = read('journal_mode') === 'wal' && read('synchronous') === FULL_SYNCHRONOUS
  if (isOurs) runOnce(database, 'PRAGMA synchronous = NORMAL')
  return { isRelaxed: isOurs }
}

const FULL_SYNCHRONOUS = 2
