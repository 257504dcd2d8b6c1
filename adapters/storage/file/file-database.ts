import process from 'node:process'
import { createStorageError } from '../lib/storage-error.ts'
import type { LocalDatabase } from '../sqlite/local-database.ts'

/** A database that the file store opened itself. */
export interface FileDatabase extends LocalDatabase {
  exec(sql: string): void
  close(): void
}

type DatabaseClass = new (path: string) => FileDatabase

let cachedClass: DatabaseClass | undefined

/** Opens a database with the runtime's SQLite, which is loaded on first use. Throws `STORAGE_UNSUPPORTED`, or SQLite's own error. */
export function openDatabase(path: string): FileDatabase {
  cachedClass ??= findSqlite()
  if (!cachedClass) throw unsupported()
  return new cachedClass(path)
}

/** Throws `STORAGE_UNSUPPORTED` on Node before 22.13, which has no SQLite or hides it behind a flag. */
export function requireSqlite(): void {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const isOld = major < 22 || (major === 22 && minor < 13)
  if (process.versions.bun === undefined && isOld) throw unsupported()
}

/** Loads SQLite without letting bundlers follow the import. */
function findSqlite(): DatabaseClass | undefined {
  const found: { Database?: unknown; DatabaseSync?: unknown } =
    process.versions.bun === undefined
      ? Object(process.getBuiltinModule('node:sqlite'))
      : Object(process.getBuiltinModule('bun:sqlite'))
  return (found.DatabaseSync ?? found.Database) as DatabaseClass | undefined // both classes have these methods
}

const unsupported = () =>
  createStorageError(
    'STORAGE_UNSUPPORTED',
    `fileStorage needs Node 22.13 or later, which includes SQLite. This is Node ${process.versions.node}. Update it (https://nodejs.org) or use another storage.`,
  )
