import { constants, statSync } from 'node:fs'
import { access, open } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import type { Logger } from '../../../src/index.ts'
import { createStorageError } from '../lib/storage-error.ts'
import { runOnce, setPragmas } from '../sqlite/local-database.ts'
import type { OpenedTable } from '../sqlite/local-storage.ts'
import { LocalEngine } from '../sqlite/sqlite-engine.ts'
import { explainSqliteError, isRejected, type LockWait, retryWhileBusy } from '../sqlite/sqlite-errors.ts'
import { type Checkpoints, createCheckpoints } from './checkpoint.ts'
import { type FileDatabase, openDatabase } from './file-database.ts'
import { createCorruptError, verifyPages, verifySchema } from './file-schema.ts'
import { createFolderError, type Folder, hasCode, syncFolder } from './folder.ts'
import { Tables } from './tables.ts'

/** An opened file store. */
export interface OpenedStore extends OpenedTable {
  table: Tables
  close(): Promise<void>
}

/** Options for `openStore`. */
export interface OpenOptions {
  folder: Folder
  logger: Logger
  now(): number
  /** How long an operation waits for another process's lock, in ms. */
  timeoutMs: number
  /** Called after each flush to disk. */
  onFlush(): Promise<void>
}

/** How often reads check that the files are still the ones that were opened, in ms. Each commit also checks this. */
const CHECK_EVERY_MS = 10

/**
 * Opens the database in a folder that has been set up, and checks its records. Throws `STORAGE_CORRUPT`, `STORAGE_NEWER_VERSION`,
 * `STORAGE_UNREADABLE`, `STORAGE_UNWRITABLE`, or `STORAGE_LOCKED`.
 */
export async function openStore(options: OpenOptions): Promise<OpenedStore> {
  const { folder, logger, timeoutMs } = options
  await requireAccess(folder.database)
  const identity = identify(folder.database)
  const database = openDatabase(folder.database)
  let checkpoints: Checkpoints | undefined
  try {
    const wait = { name: `the store ${folder.path}`, timeoutMs }
    const table = await retryWhileBusy(() => {
      runOnce(database, 'PRAGMA cell_size_check = ON')
      verifySchema(database, folder.database) // runs first, because it changes nothing
      setPragmas(database)
      runOnce(database, 'PRAGMA busy_timeout = 0') // the engine waits instead, without blocking the event loop
      verifyPages(database, folder.database)
      return new Tables(database, folder.database)
    }, wait)
    await verifyRecords(table, database, wait)
    checkpoints = createCheckpoints(database, folder.database)
    const { logHasGrown, stop } = checkpoints
    const files = watchFiles(folder, identity)
    let hasNotifiedOthers = false

    const engine = new LocalEngine({
      database,
      table,
      now: options.now,
      name: wait.name,
      busyMs: timeoutMs,
      toError: (cause) => toStoreError(cause, folder),
      check: {
        beforeWrite: () => logHasGrown(files.check().logBytes),
        beforeRead() {
          if (!files.checkSometimes() || hasNotifiedOthers || !table.hasOthers()) return
          hasNotifiedOthers = true
          logger.info?.('Another writer also has this store open.', { path: folder.path })
        },
      },
      async flush() {
        await files.flush()
        await options.onFlush()
      },
    })
    return {
      engine,
      table,
      async close() {
        await engine.idle()
        await stop()
        database.close()
      },
    }
  } catch (cause) {
    await checkpoints?.stop()
    database.close()
    throw isRejected(cause)
      ? createCorruptError(folder.database, String(Object(cause).message), cause)
      : toStoreError(cause, folder)
  }
}

/** Creates functions that check a store's files. They throw if a file is missing or was replaced, because later writes would be lost. */
function watchFiles(folder: Folder, identity: FileIdentity | undefined) {
  const log = `${folder.database}-wal`
  const logIdentity = identify(log)
  let isFolderFlushed = false
  let checkedAt = 0

  function check(): { logBytes: number } {
    const size = requireSame(folder.database, identity)
    if (size === 0) throw createCorruptError(folder.database, 'it is empty')
    const logBytes = requireSame(log, logIdentity)
    checkedAt = performance.now()
    return { logBytes }
  }

  return {
    check,

    /** Checks the files unless they were checked recently. Returns whether it checked them. */
    checkSometimes(): boolean {
      const isDue = performance.now() - checkedAt >= CHECK_EVERY_MS
      if (isDue) check()
      return isDue
    },

    async flush(): Promise<void> {
      try {
        const file = await open(log, 'r+')
        await file.datasync().finally(() => file.close())
        if (!isFolderFlushed) await syncFolder(folder)
        isFolderFlushed = true
      } catch (cause) {
        check() // throws if the actual cause is a missing file
        throw createFolderError('STORAGE_UNWRITABLE', folder.path, cause)
      }
      check()
    },
  }
}

interface FileIdentity {
  ino: number
  dev: number
  size: number
}

function identify(path: string): FileIdentity | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch (error) {
    if (hasCode(error, 'ENOTDIR')) return undefined
    throw createFolderError('STORAGE_UNREADABLE', path, error)
  }
}

/** Returns the file's size in bytes. Throws `STORAGE_MISSING` unless the file is the one that was opened. */
function requireSame(path: string, opened: FileIdentity | undefined): number {
  const found = identify(path)
  if (found && found.ino === opened?.ino && found.dev === opened.dev) return found.size
  throw createStorageError(
    'STORAGE_MISSING',
    `${path} ${found ? 'was replaced' : 'was removed'} while the store was open, and nothing has been written to it since. Put the folder back, or restart to use the current one.`,
  )
}

async function requireAccess(path: string): Promise<void> {
  await access(path, constants.R_OK).catch((cause: unknown) => {
    throw createFolderError('STORAGE_UNREADABLE', path, cause)
  })
  await access(path, constants.W_OK).catch((cause: unknown) => {
    throw createFolderError('STORAGE_UNWRITABLE', path, cause)
  })
}

/** Reads all records in one snapshot, in parts, so other work can run in between. */
async function verifyRecords(table: Tables, database: FileDatabase, wait: LockWait): Promise<void> {
  const state = { after: '', count: 0, total: 0 }
  database.exec('BEGIN')
  try {
    while (await retryWhileBusy(() => table.verify(state), wait)) await setImmediate()
  } finally {
    database.exec('ROLLBACK')
  }
}

/** Converts an SQLite error to a storage error. */
function toStoreError(cause: unknown, folder: Folder): Error {
  if (cause instanceof Error && cause.name === 'StorageError') return cause
  const { code, reason } = explainSqliteError(cause)
  if (code === 'STORAGE_CORRUPT') return createCorruptError(folder.database, reason, cause)
  const verb = code === 'STORAGE_UNWRITABLE' ? 'written' : 'read'
  return createStorageError(
    code,
    `The store cannot be ${verb}: ${folder.database} (${reason}). Check the path, its owner, and the disk.`,
    cause,
  )
}
