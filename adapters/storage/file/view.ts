import type { Logger } from '../../../src/index.ts'
import { storageError } from '../lib/error.ts'
import type { Table } from '../lib/row-table.ts'
import { type Changes, commit, syncFolder } from './commit.ts'
import { type Folder, folderError, hasCode } from './folder.ts'
import { type Lock, type LockOptions, takeLock } from './lock.ts'
import { readOrRestore } from './recover.ts'
import { isCurrent, type Snapshot } from './snapshot.ts'

/** The store in memory, kept up to date with its file. */
export interface View {
  /** The current contents of the file; costs one check of the file when it has not changed. */
  fresh(): Promise<Snapshot>
  /** Runs the work while holding the lock, and once more from the start when the lock was lost before a commit. */
  locked<T>(work: (lock: Lock, snapshot: Snapshot) => Promise<T>): Promise<T>
  /** Commits changes to the snapshot that `locked` has passed. When it resolves, they are durable. */
  commit(lock: Lock, snapshot: Snapshot, changes: Changes): Promise<Snapshot>
}

export interface ViewOptions extends LockOptions {
  folder: Folder
  logger: Logger
  now(): number
  /** Called before a commit and after the store was restored: makes sure that the files which the store needs beside it exist. */
  prepare(lock: Lock): Promise<void>
  /** Called with each key that another process has changed. */
  onChange(key: string): void
  hasListeners(): boolean
}

export function createView(options: ViewOptions): View {
  const { folder, logger } = options
  let known: Snapshot | undefined
  let loading: Promise<Snapshot | undefined> | undefined
  let committing: Promise<unknown> | undefined
  let isShared = false
  let seenAt = 0

  function take({ kind, snapshot }: { kind: 'read' | 'restored'; snapshot: Snapshot }): Snapshot {
    const before = known
    known = snapshot
    if (!before) return snapshot
    if (kind === 'read' && !isShared)
      logger.info?.('Another writer has this store open as well.', { path: folder.path })
    isShared ||= kind === 'read'
    if (options.hasListeners()) for (const key of differences(before.table, snapshot.table)) options.onChange(key)
    return snapshot
  }

  function isKnownCurrent(snapshot: Snapshot): boolean {
    const is = isCurrent(folder.store, snapshot)
    if (is) seenAt = performance.now()
    return is
  }

  function read(lock: Lock | undefined) {
    const isLast = known !== undefined && known.revision > 0 && !isShared && performance.now() - seenAt < RECENT_MS
    return readOrRestore({ folder, logger, known, isLast, lock, now: options.now() })
  }

  /** `undefined` when a commit of this process came in between. */
  async function load(): Promise<Snapshot | undefined> {
    const before = known
    const found = await read(undefined)
    if (found.kind === 'locked out') return locked(async (_, snapshot) => snapshot)
    return known === before ? take(found) : undefined
  }

  async function fresh(): Promise<Snapshot> {
    for (;;) {
      if (known && isKnownCurrent(known)) return known
      const underWay = loading ?? committing
      if (underWay) {
        await underWay.catch(() => {}) // that load began before this call, so the file may have changed again
        continue
      }
      loading = load().finally(() => {
        loading = undefined
      })
      const loaded = await loading
      if (loaded) return loaded
    }
  }

  async function freshUnder(lock: Lock): Promise<Snapshot> {
    if (known && isKnownCurrent(known)) return known
    const found = await read(lock)
    if (found.kind === 'locked out') throw new Error('unreachable: the lock is held')
    if (found.kind === 'restored') await options.prepare(lock)
    return take(found)
  }

  async function locked<T>(work: (lock: Lock, snapshot: Snapshot) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      const lock = await takeLock(folder, options)
      try {
        return await work(lock, await freshUnder(lock))
      } catch (error) {
        if (!isSystemError(error)) throw error
        if (!hasCode(error, 'ENOENT') || (await lock.isHeld()))
          throw folderError('STORAGE_UNWRITABLE', folder.path, error)
        if (attempt === MAX_ATTEMPTS) throw lostError(folder)
      } finally {
        await lock.release()
      }
    }
  }

  return {
    fresh,
    locked,
    async commit(lock, snapshot, changes) {
      await options.prepare(lock)
      const underWay = commit({ folder, lock, now: options.now() }, snapshot, changes)
      committing = underWay // `fresh` waits for it, so that a file of this process is not read again
      try {
        known = await underWay
      } finally {
        committing = undefined
      }
      await syncFolder(folder)
      return known
    },
  }
}

const MAX_ATTEMPTS = 10
/** If no other process has ever written, assume for this long after a check that none has written since. */
const RECENT_MS = 2_000

function differences(before: Table, after: Table): Set<string> {
  const changed = new Set<string>()
  const versions = new Map<string, string>()
  for (const [key, { version }] of after.entries()) versions.set(key, version)
  for (const [key, { version }] of before.entries()) {
    if (versions.get(key) !== version) changed.add(key)
    versions.delete(key)
  }
  for (const key of versions.keys()) changed.add(key)
  return changed
}

const isSystemError = (error: unknown) => error instanceof Error && 'syscall' in error

function lostError({ path }: Folder): Error {
  return storageError(
    'STORAGE_LOCKED',
    `The lock of the store ${path} was lost ${MAX_ATTEMPTS} times. Nothing was written.`,
  )
}
