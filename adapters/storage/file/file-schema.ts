import { createStorageError } from '../lib/storage-error.ts'
import { type LocalDatabase, prepareNumbered, readPragma, runOnce } from '../sqlite/local-database.ts'

/*
 * `records` contains lasting data: values that don't expire and weren't written in relaxed mode. `meta` has their count and the sum of their
 * checksums, so startup detects missing or changed records without reading `entries`, of which there may be millions. `changes` lists the keys that
 * each commit changed, for other processes.
 *
 * The tables have rowids. Without them, rows are cells of the index, and each search for a key reads the large values on its path, such as usage
 * records, in full: https://sqlite.org/withoutrowid.html#when_to_use_without_rowid
 */

/** The schema version, which later releases may raise: https://sqlite.org/pragma.html#pragma_user_version */
const FORMAT_VERSION = 2
/** Marks a database as a Signalbox database: https://sqlite.org/pragma.html#pragma_application_id */
const APPLICATION_ID = 0x53424f58

const TABLE_SCHEMAS: Record<string, string> = {
  records:
    'CREATE TABLE records (key TEXT PRIMARY KEY NOT NULL, version TEXT NOT NULL, sum INTEGER NOT NULL, value TEXT NOT NULL)',
  entries:
    'CREATE TABLE entries (key TEXT PRIMARY KEY NOT NULL, expires_at REAL, version TEXT NOT NULL, sum INTEGER NOT NULL, value TEXT NOT NULL)',
  expiring: 'CREATE INDEX expiring ON entries (expires_at) WHERE expires_at IS NOT NULL',
  changes: 'CREATE TABLE changes (seq INTEGER PRIMARY KEY, writer TEXT NOT NULL, keys TEXT NOT NULL)',
  meta: 'CREATE TABLE meta (id INTEGER PRIMARY KEY, count INTEGER NOT NULL, total INTEGER NOT NULL, secret_mark TEXT)',
}

/** Creates the tables in an empty database. */
export function createTables(database: LocalDatabase, secretMark: string | undefined): void {
  runOnce(database, `PRAGMA application_id = ${APPLICATION_ID}`)
  runOnce(database, `PRAGMA user_version = ${FORMAT_VERSION}`)
  for (const sql of Object.values(TABLE_SCHEMAS)) runOnce(database, sql)
  prepareNumbered(database, 'INSERT INTO meta (id, count, total, secret_mark) VALUES (1, 0, 0, ?1)').all(
    secretMark ?? null,
  )
}

/** Throws `STORAGE_NEWER_VERSION` or `STORAGE_CORRUPT` unless the database has this release's tables. */
export function verifySchema(database: LocalDatabase, path: string): void {
  const read = (name: string) => Number(readPragma(database, name))
  const format = read('user_version')
  if (read('application_id') !== APPLICATION_ID || format < FORMAT_VERSION)
    throw createCorruptError(path, 'it is not a Signalbox database')
  if (format > FORMAT_VERSION)
    throw createStorageError(
      'STORAGE_NEWER_VERSION',
      `${path} was written by a newer Signalbox (schema version ${format}; this one supports ${FORMAT_VERSION}). Update Signalbox. The file is unchanged.`,
    )
  const found = runOnce(database, 'SELECT name, sql FROM sqlite_schema') as Array<{ name: string; sql: unknown }>
  const isOurs = Object.entries(TABLE_SCHEMAS).every(([name, sql]) =>
    found.some((object) => object.name === name && object.sql === sql),
  )
  if (!isOurs) throw createCorruptError(path, 'its tables were not created by Signalbox')
}

/** The largest database, in pages, that is checked completely, which takes a few milliseconds. */
const MAX_CHECKED_PAGES = 2_000

/** Throws `STORAGE_CORRUPT` if a small database has inconsistent pages. A larger database's pages are checked when they are read. */
export function verifyPages(database: LocalDatabase, path: string): void {
  if (Number(readPragma(database, 'page_count')) > MAX_CHECKED_PAGES) return
  const found = readPragma(database, 'quick_check(1)')
  if (found !== 'ok') throw createCorruptError(path, String(found).replaceAll(/\s+/g, ' '))
}

/** Creates the `STORAGE_CORRUPT` error for a damaged database, with advice on how to proceed. */
export const createCorruptError = (path: string, reason: string, cause?: unknown): Error =>
  createStorageError(
    'STORAGE_CORRUPT',
    `The store file ${path} cannot be read: ${reason}. Nothing was changed. Restore the folder from a backup. To start empty on purpose, move everything in it elsewhere, including the secret.`,
    cause,
  )
