import { constants } from 'node:fs'
import { access, mkdir, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { type StorageErrorCode, storageError } from '../lib/error.ts'

/** The names of a file store's folder. */
export interface Folder {
  readonly path: string
  /** The data: one header line, then JSON. */
  readonly store: string
  /** The previous version of the data. */
  readonly previous: string
  readonly secret: string
  /** The lock: a folder that contains the folder of its holder while a process writes. */
  readonly lock: string
  /** A new path at which a store file that cannot be read is kept. */
  aside(): string
}

/** The prefix of the names of store files that could not be read and were kept. */
export const ASIDE = 'store.corrupt-'

/** The paths below `path`, which need not exist yet. */
export function folderAt(path: string): Folder {
  const at = (name: string) => join(resolve(path), name)
  return {
    path: resolve(path),
    store: at('store'),
    previous: at('store.previous'),
    secret: at('secret'),
    lock: at('lock'),
    aside: () => at(`${ASIDE}${new Date().toISOString().replaceAll(/[:.]/g, '-')}`),
  }
}

/** Creates the folder (0700) where there is none. Throws when it cannot be read or written. */
export async function prepareFolder({ path }: Folder): Promise<void> {
  await makeFolder(path).catch((cause: unknown) => {
    if (hasCode(cause, 'EEXIST', 'ENOTDIR')) throw fileError(path, cause)
    throw folderError('STORAGE_UNWRITABLE', path, cause)
  })
  await access(path, constants.R_OK | constants.X_OK).catch((cause: unknown) => {
    throw folderError('STORAGE_UNREADABLE', path, cause)
  })
  await access(path, constants.W_OK | constants.X_OK).catch((cause: unknown) => {
    throw folderError('STORAGE_UNWRITABLE', path, cause)
  })
}

/** Creates one level after the other: with `recursive`, Node 20 never returns for a path such as `/proc/x`, where no folder can be created. */
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

/** The error for a path that is a file, or that leads through one. */
function fileError(path: string, cause: unknown): Error {
  const what = hasCode(cause, 'EEXIST') ? `${path} is a file` : `a part of ${path} is a file`
  return storageError('STORAGE_UNWRITABLE', `The store cannot be written: ${what}. Name a folder instead.`, cause)
}

/** The error for a failure of the file system, with a code and the system's own message. */
export function folderError(code: StorageErrorCode, path: string, cause: unknown): Error {
  const what = code === 'STORAGE_UNREADABLE' ? 'read' : 'written'
  const reason = cause instanceof Error ? cause.message : String(cause)
  return storageError(
    code,
    `The store cannot be ${what}: ${path} (${reason}). Check the path, its owner and the disk.`,
    cause,
  )
}

/** Does a file system error carry one of these codes? */
export function hasCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.some((code) => code === error.code)
}
