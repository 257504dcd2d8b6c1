import { mkdir, readdir, rename, rmdir, stat, unlink, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '../../../src/index.ts'
import { createStorageError } from '../lib/storage-error.ts'
import { explainSqliteError, isSqliteError } from '../sqlite/sqlite-errors.ts'
import { createFolderError, type Folder, hasCode } from './folder.ts'
import { createToken, getProcessId, isGone } from './owner.ts'

/*
 * Unlike `proper-lockfile`, this lock can't be lost unnoticed. With that package, a holder that was paused for longer than the lock lasts, or whose
 * event loop was blocked, still renames its file over its successor's, and only learns afterward that it had lost the lock. Here, the temporary file
 * is inside the lock, in a folder with a unique name, and breaking the lock removes that folder. The rename that commits therefore only succeeds for
 * the process that holds the lock.
 */

/** The exclusive right to write, until `release` is called. */
export interface Lock {
  /** Returns the path of a temporary file inside the lock. The file can only be moved into place while the lock is held. */
  getTemporaryPath(name: string): string
  isHeld(): Promise<boolean>
  release(): Promise<void>
}

/** When to take over a lock, and when to stop waiting for it; times in ms. */
export interface LockOptions {
  logger: Logger
  /** How long a holder may go without renewing the lock before losing it. */
  staleMs: number
  /** How long to wait for the lock before throwing `STORAGE_LOCKED`. */
  timeoutMs: number
}

/** Waits for the lock. A holder loses the lock when its process ends or stops renewing it. */
export async function takeLock(folder: Folder, { logger, staleMs, timeoutMs }: LockOptions): Promise<Lock> {
  const token = createToken()
  const staging = join(folder.path, `lock.${token}`)
  const tokenPath = join(folder.lock, token)
  const startedAt = performance.now()
  const isStale = createStaleness(staleMs)
  let isStaged = false

  while (!(await moveIntoPlace())) {
    const holder = await readHolder(folder)
    if (performance.now() - startedAt > timeoutMs) {
      await removeHolder(staging)
      throw createLockedError(folder, holder, timeoutMs)
    }
    if (holder && (isGone(holder) || (await isStale(join(folder.lock, holder))))) {
      logger.warn(`Taking over the store's lock from process ${getProcessId(holder)}, which exited or hung.`, {
        path: folder.path,
      })
      await removeHolder(join(folder.lock, holder))
    } else await sleep(2 + Math.random() * 8)
  }
  const heartbeat = setInterval(() => void utimes(tokenPath, new Date(), new Date()).catch(() => {}), staleMs / 5) // ignored, because the commit fails if the lock is lost
  heartbeat.unref()

  return {
    getTemporaryPath: (name) => join(tokenPath, name),
    isHeld: () => exists(tokenPath),
    async release() {
      clearInterval(heartbeat)
      await removeHolder(tokenPath)
      await rmdir(folder.lock).catch(() => {}) // fails if another process has already taken the lock
    },
  }

  /** Moves this process's folder onto the lock's path. Moving a folder onto a nonempty one fails, so the first process to do this holds the lock. */
  async function moveIntoPlace(): Promise<boolean> {
    try {
      if (!isStaged) await mkdir(join(staging, token), { recursive: true, mode: 0o700 })
      isStaged = true
      await rename(staging, folder.lock)
      return true
    } catch (error) {
      isStaged = !hasCode(error, 'ENOENT') // another process removed the folder because it assumed that this process had ended
      if (!isStaged || hasCode(error, 'ENOTEMPTY', 'EEXIST')) return false
      if (hasCode(error, 'EPERM') && (await exists(folder.lock))) {
        await rmdir(folder.lock).catch(() => {}) // Windows can't move a folder onto an empty one; a held lock isn't empty
        return false
      }
      await removeHolder(staging)
      throw createFolderError('STORAGE_UNWRITABLE', folder.lock, error)
    }
  }
}

/** Runs the work while holding the lock. Starts over if the lock was lost before the work was done. */
export async function withLock<T>(folder: Folder, options: LockOptions, work: (lock: Lock) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const lock = await takeLock(folder, options)
    try {
      return await work(lock)
    } catch (error) {
      const isFileError = error instanceof Error && 'syscall' in error
      if (!isFileError && !isSqliteError(error)) throw error
      const mayBeLost = hasCode(error, 'ENOENT') || !isFileError // the database is built inside the lock's folder, so the error may mean that the lock was lost
      if (!mayBeLost || (await lock.isHeld()))
        throw isFileError ? createFolderError('STORAGE_UNWRITABLE', folder.path, error) : buildError(folder, error)
      if (attempt === MAX_ATTEMPTS) throw createLostLockError(folder)
    } finally {
      await lock.release()
    }
  }
}

const MAX_ATTEMPTS = 10

function buildError({ database }: Folder, cause: unknown): Error {
  const { code, reason } = explainSqliteError(cause)
  return createStorageError(code, `The database ${database} cannot be created: ${reason}. Nothing was changed.`, cause)
}

function createLostLockError({ path }: Folder): Error {
  return createStorageError(
    'STORAGE_LOCKED',
    `The lock of the store ${path} was lost ${MAX_ATTEMPTS} times. Nothing was written.`,
  )
}

/** Removes a holder's folder and its files. That holder can no longer commit, because no file can be moved out of the folder. */
export async function removeHolder(path: string): Promise<void> {
  for (let round = 0; round < 10; round++) {
    const names = await readdir(path).catch(() => [])
    for (const name of names) await remove(join(path, name))
    const error: unknown = await rmdir(path).catch((reason: unknown) => reason)
    if (!hasCode(error, 'ENOTEMPTY', 'EEXIST')) return // otherwise, its holder has resumed and created a file there
  }
}

async function remove(path: string): Promise<void> {
  await unlink(path).catch((error: unknown) =>
    hasCode(error, 'EISDIR', 'EPERM') ? rmdir(path).catch(() => {}) : undefined,
  )
}

/**
 * Creates a function that checks whether a folder hasn't changed for `staleMs`. It only uses this process's clock, because clocks of other machines
 * may differ.
 */
function createStaleness(staleMs: number): (path: string) => Promise<boolean> {
  let seen = ''
  let since = 0
  return async (path) => {
    const sign = await stat(path).then(
      ({ mtimeMs }) => `${path} ${mtimeMs}`,
      () => '',
    )
    if (sign !== seen) since = performance.now()
    seen = sign
    return sign !== '' && performance.now() - since >= staleMs
  }
}

async function readHolder(folder: Folder): Promise<string | undefined> {
  const names = await readdir(folder.lock).catch(() => [])
  return names[0]
}

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  )

function createLockedError(folder: Folder, holder: string | undefined, timeoutMs: number): Error {
  const holderText = holder === undefined ? 'others' : `process ${getProcessId(holder)}`
  return createStorageError(
    'STORAGE_LOCKED',
    `The store ${folder.path} was locked by ${holderText} for ${timeoutMs} ms. Nothing was written. Try again.`,
  )
}
