import { open, rename } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import type { Logger } from '../../../src/index.ts'
import type { Row } from '../lib/row-operations.ts'
import { createStorageError } from '../lib/storage-error.ts'
import { runOnce } from '../sqlite/local-database.ts'
import { openDatabase } from './file-database.ts'
import { createCorruptError, createTables } from './file-schema.ts'
import {
  type Folder,
  fileExists,
  formatTimeForName,
  hasCode,
  isNewFolder,
  linkOrCopy,
  syncFolder,
  writeDurably,
} from './folder.ts'
import { createMovedFile, type LegacyFile, readLegacyFile } from './legacy-format.ts'
import type { Lock } from './lock.ts'
import { move } from './move.ts'
import { Tables } from './tables.ts'

/** The initial contents of a new database. */
interface Contents {
  revision: number
  secretMark: string | undefined
  rows: ReadonlyMap<string, Row>
}

/** Resolves to whether the folder contains a database that is ready to use. Otherwise, `setUp` has to create one. */
export async function isSetUp(folder: Folder): Promise<boolean> {
  const [legacy, hasDatabase] = [await readLegacyFile(folder.store), await fileExists(folder.database)]
  return legacy.kind === 'moved' && hasDatabase
}

/**
 * Creates the database while holding the lock: an empty database in a new folder, or a database with the data from an earlier release, whose file is
 * kept. Replacing `store` commits the setup: it fails if the lock was lost, and from then on, processes of the earlier release reject the folder. If
 * the process is killed before or after that step, the next start finds everything it needs. Throws `STORAGE_CORRUPT`, `STORAGE_MISSING`, or
 * `STORAGE_NEWER_VERSION` without changing anything.
 */
export async function setUp(folder: Folder, lock: Lock, logger: Logger): Promise<void> {
  const legacy = rejectNewer(folder.store, await readLegacyFile(folder.store))
  const exists = await fileExists(folder.database)
  if (legacy.kind === 'moved') {
    if (exists) return
    if (!(await fileExists(folder.staged))) throw createMissingError(folder)
    await moveToPlace(folder)
    return
  }
  if (exists && legacy.kind === 'missing') {
    await markAsMoved(folder, lock, 0) // only the database was restored from a backup
    return
  }
  if (exists) throw createAmbiguousStoreError(folder, legacy)

  const contents = await readContents(folder, legacy, logger)
  const builtPath = lock.getTemporaryPath('database')
  await build(builtPath, contents)
  await move(builtPath, folder.staged)
  const legacyFolder = contents.revision === 0 ? undefined : await renameLegacyFiles(folder)
  await markAsMoved(folder, lock, contents.revision + 1)
  await moveToPlace(folder)
  if (legacyFolder !== undefined)
    logger.info?.(`Imported ${contents.rows.size} records of an earlier release into ${folder.database}.`, {
      path: folder.path,
      keptAs: legacyFolder,
    })
}

/** Returns the earlier release's data, or its previous version if the last version can't be read. A new folder has no data. */
async function readContents(folder: Folder, legacy: LegacyFile, logger: Logger): Promise<Contents> {
  if (legacy.kind === 'data') return legacy
  if (legacy.kind === 'missing' && (await isNewFolder(folder)))
    return { revision: 0, secretMark: undefined, rows: new Map() }
  const previous = rejectNewer(folder.previous, await readLegacyFile(folder.previous))
  if (previous.kind !== 'data') throw createCorruptStoreError(folder, legacy, previous)
  logger.error(
    `The store file ${folder.store} ${describe(legacy)}. Its previous version (revision ${previous.revision}) was imported, and the last commit is lost.`,
    { path: folder.path },
  )
  return previous
}

/** The number of rows to write before other work can run. */
const ROWS_PER_BATCH = 500

/** Builds a complete database in a separate file, and flushes it to disk. */
async function build(path: string, { secretMark, rows }: Contents): Promise<void> {
  await writeDurably(path, new Uint8Array()) // created with mode 0600, which SQLite also gives to `-wal` and `-shm`
  const database = openDatabase(path)
  try {
    runOnce(database, 'PRAGMA journal_mode = MEMORY')
    runOnce(database, 'PRAGMA synchronous = OFF')
    createTables(database, secretMark)
    const tables = new Tables(database, path)
    const waiting = [...rows]
    while (waiting.length > 0) {
      database.exec('BEGIN')
      tables.begin()
      const batch = waiting.splice(0, ROWS_PER_BATCH)
      for (const [key, row] of batch) tables.put(key, row, false)
      tables.finish(batch.map(([key]) => key))
      database.exec('COMMIT')
      await setImmediate()
    }
    database.exec('DELETE FROM changes WHERE seq < (SELECT max(seq) FROM changes)')
    runOnce(database, 'PRAGMA journal_mode = WAL') // this mode is stored in the file
  } finally {
    database.close()
  }
  const file = await open(path, 'r+')
  await file.sync().finally(() => file.close())
}

/** Renames the earlier release's files. Resolves to the last file's new name. */
async function renameLegacyFiles(folder: Folder): Promise<string> {
  const importedFolder = folder.getImportedPath(formatTimeForName())
  await linkOrCopy(folder.store, importedFolder).catch(ignoreMissing)
  await rename(folder.previous, `${importedFolder}.previous`).catch(ignoreMissing)
  return importedFolder
}

async function markAsMoved(folder: Folder, lock: Lock, revision: number): Promise<void> {
  const marker = lock.getTemporaryPath('moved')
  await writeDurably(marker, createMovedFile(revision))
  await move(marker, folder.store) // fails with ENOENT if the lock was lost
  await syncFolder(folder)
}

async function moveToPlace(folder: Folder): Promise<void> {
  await move(folder.staged, folder.database).catch(ignoreMissing) // another process may already have moved the file
  await syncFolder(folder)
}

function ignoreMissing(error: unknown): void {
  if (!hasCode(error, 'ENOENT')) throw error
}

function rejectNewer(path: string, file: LegacyFile): Exclude<LegacyFile, { kind: 'newer' }> {
  if (file.kind !== 'newer') return file
  throw createStorageError(
    'STORAGE_NEWER_VERSION',
    `${path} was written by a newer Signalbox (schema version ${file.schema}, which this one does not support). Update Signalbox. The file is unchanged.`,
  )
}

function describe(file: LegacyFile): string {
  if (file.kind === 'missing') return 'is missing'
  return file.kind === 'corrupt' ? `cannot be read: ${file.reason}` : 'contains no data'
}

const ADVICE =
  'Nothing was changed. Restore the folder from a backup. To start empty on purpose, move everything in it elsewhere, including the secret.'

function createCorruptStoreError(folder: Folder, current: LegacyFile, previous: LegacyFile): Error {
  const isMissing = current.kind === 'missing' && previous.kind === 'missing'
  return createStorageError(
    isMissing ? 'STORAGE_MISSING' : 'STORAGE_CORRUPT',
    isMissing
      ? `The database ${folder.database} is missing, but the folder contains traces of a store. ${ADVICE}`
      : `The store file ${folder.store} ${describe(current)}, and its previous version ${folder.previous} ${describe(previous)}. ${ADVICE}`,
  )
}

const createMissingError = ({ database }: Folder) =>
  createStorageError('STORAGE_MISSING', `The database ${database} is missing. ${ADVICE}`)

/** Creates the error for a folder with two possible stores. Only the operator knows which store is outdated. */
function createAmbiguousStoreError({ store, database }: Folder, legacy: LegacyFile): Error {
  const reason = legacy.kind === 'corrupt' ? legacy.reason : 'it is from an earlier release'
  return createCorruptError(
    store,
    `${reason}, and the database ${database} is next to it; move the outdated one elsewhere`,
  )
}
