import { constants } from 'node:fs'
import { access, link, mkdir, open, readdir, readFile, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import process from 'node:process'
import { createStorageError, type StorageErrorCode } from '../lib/storage-error.ts'

/** The paths in a file store's folder. */
export interface Folder {
  readonly path: string
  /** The database. SQLite adds `-wal` and `-shm` files while it is open. */
  readonly database: string
  /** A complete database that still has to be moved into place. */
  readonly staged: string
  /** The data file of releases without a database. It now contains one line that makes those releases reject the folder. */
  readonly store: string
  /** The version that preceded `store`, from releases without a database. */
  readonly previous: string
  readonly secret: string
  /** The lock: a folder that contains its holder's folder while a process sets up the store. */
  readonly lock: string
  /** Returns the path where an imported file is kept. */
  getImportedPath(time: string): string
}

/** The name prefixes of unreadable files and imported files, which are kept. */
const CORRUPT_PREFIX = 'store.corrupt-'
const IMPORTED_PREFIX = 'store.imported-'

/** Returns the paths below `path`, which doesn't need to exist yet. */
export function resolveFolder(path: string): Folder {
  const resolvePath = (name: string) => join(resolve(path), name)
  return {
    path: resolve(path),
    database: resolvePath('store.db'),
    staged: resolvePath('store.db.new'),
    store: resolvePath('store'),
    previous: resolvePath('store.previous'),
    secret: resolvePath('secret'),
    lock: resolvePath('lock'),
    getImportedPath: (time) => resolvePath(`${IMPORTED_PREFIX}${time}`),
  }
}

/** Resolves to whether the folder has never contained a store, given that it contains neither a database nor data from an earlier release. */
export async function isNewFolder({ path, secret, previous }: Folder): Promise<boolean> {
  const storeFiles = [secret, previous].map((file) => basename(file))
  const names = await readdir(path)
  return !names.some(
    (name) => storeFiles.includes(name) || name.startsWith(CORRUPT_PREFIX) || name.startsWith(IMPORTED_PREFIX),
  )
}

/** Returns the current time in a form that is valid in file names. */
export const formatTimeForName = (): string => new Date().toISOString().replaceAll(/[:.]/g, '-')

/** Creates the folder (0700) if it doesn't exist. Throws `STORAGE_UNREADABLE` or `STORAGE_UNWRITABLE` if it can't be used. */
export async function prepareFolder({ path }: Folder): Promise<void> {
  await makeFolder(path).catch((cause: unknown) => {
    if (hasCode(cause, 'EEXIST', 'ENOTDIR')) throw fileError(path, cause)
    throw createFolderError('STORAGE_UNWRITABLE', path, cause)
  })
  await access(path, constants.R_OK | constants.X_OK).catch((cause: unknown) => {
    throw createFolderError('STORAGE_UNREADABLE', path, cause)
  })
  await access(path, constants.W_OK | constants.X_OK).catch((cause: unknown) => {
    throw createFolderError('STORAGE_UNWRITABLE', path, cause)
  })
}

/** Creates one level at a time. With `recursive`, Node 20 never returns for a path where no folder can be created, such as `/proc/x`. */
async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 })
  } catch (cause) {
    if (hasCode(cause, 'EEXIST') && (await stat(path)).isDirectory()) return
    if (!hasCode(cause, 'ENOENT') || dirname(path) === path) throw cause
    await makeFolder(dirname(path))
    await mkdir(path, { mode: 0o700 })
  }
}

/** Creates the error for a path that is a file or passes through one. */
function fileError(path: string, cause: unknown): Error {
  const obstacle = hasCode(cause, 'EEXIST') ? `${path} is a file` : `part of ${path} is a file`
  return createStorageError(
    'STORAGE_UNWRITABLE',
    `The store cannot be written: ${obstacle}. Use a folder instead.`,
    cause,
  )
}

/** Creates a storage error with the file system's own message. */
export function createFolderError(code: StorageErrorCode, path: string, cause: unknown): Error {
  const verb = code === 'STORAGE_UNREADABLE' ? 'read' : 'written'
  const reason = cause instanceof Error ? cause.message : String(cause)
  return createStorageError(
    code,
    `The store cannot be ${verb}: ${path} (${reason}). Check the path, its owner, and the disk.`,
    cause,
  )
}

/** Returns whether a file system error has one of these codes. */
export function hasCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.some((code) => code === error.code)
}

/** Resolves to whether a file exists. Throws `STORAGE_UNREADABLE` if the check fails. */
export async function fileExists(path: string): Promise<boolean> {
  try {
    await stat(path)
    return true
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false
    throw createFolderError('STORAGE_UNREADABLE', path, error)
  }
}

/** Creates a file (0600) and flushes it to disk. Rejects with `EEXIST` if it already exists. */
export async function writeDurably(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile(bytes)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Flushes the folder to disk, which makes renames in it durable. Throws `STORAGE_UNWRITABLE`. */
export async function syncFolder({ path }: Folder): Promise<void> {
  if (process.platform === 'win32') return // Windows can't open folders
  try {
    const folder = await open(path, 'r')
    await folder.sync().finally(() => folder.close())
  } catch (error) {
    throw createFolderError('STORAGE_UNWRITABLE', path, error)
  }
}

/** Hard-links a file under a second name, or copies it if links aren't allowed. */
export async function linkOrCopy(from: string, to: string): Promise<void> {
  try {
    await link(from, to)
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'EEXIST')) throw error
    await writeDurably(to, await readFile(from))
  }
}
