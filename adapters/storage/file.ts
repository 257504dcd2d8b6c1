import type { Clock, Logger, Storage } from '../../src/index.ts'
import { checkOptions } from '../lib/check-options.ts'
import { removeAbandonedLocks } from './file/abandoned-locks.ts'
import { prepareFolder, resolveFolder } from './file/folder.ts'
import { type Lock, withLock } from './file/lock.ts'
import { type OpenedStore, openStore } from './file/open-store.ts'
import { requireSqlite } from './file/own-database.ts'
import { ownSecret, restoreSecret, type SecretContext } from './file/secret.ts'
import { isSetUp, setUp } from './file/setup.ts'
import { poll } from './lib/poll.ts'
import { createStorageError } from './lib/storage-error.ts'
import { createWatchers } from './lib/watchers.ts'
import { createLocalOperations } from './sqlite/local-storage.ts'

/** Options for `fileStorage`; times in ms. */
export interface FileStorageOptions {
  /** The store's own folder; created with mode 0700 if it doesn't exist. */
  path: string
  /** The clock that `ttlMs` is measured with. Default: the system's. */
  clock?: Pick<Clock, 'now'>
  /** Receives messages about imported data, broken locks, and a new secret. Default: the console. `false` drops them. */
  logger?: Logger | false
  /** How long a process that sets up the store may fail to renew the folder's lock before another process takes it, in ms. Default: 5,000. */
  lockStaleMs?: number
  /** How long an operation waits for another process's lock before it fails with `STORAGE_LOCKED`, in ms. Default: 15,000. */
  lockTimeoutMs?: number
  /** How often the store checks for other processes' changes, in ms. Default and maximum: 50. */
  pollMs?: number
}

/**
 * Stores all data in a SQLite database in a folder. Atomic for all processes on one machine that open the same folder. A write resolves
 * once it is on disk; a relaxed write, once it would survive the end of the process. Errors have a `code` (`STORAGE_…`). Throws a TypeError
 * for invalid options, and `STORAGE_UNSUPPORTED` on Node versions before 22.13.
 */
export function fileStorage(options: string | FileStorageOptions): Storage {
  const {
    path,
    clock,
    logger: sink,
    lockStaleMs = 5_000,
    lockTimeoutMs = 15_000,
    pollMs = MAX_POLL_MS,
  } = normalizeOptions(options)
  requireSqlite()
  const folder = resolveFolder(path)
  const logger = sink === false ? silent : (sink ?? console)
  const locked = <T>(work: (lock: Lock) => Promise<T>) =>
    withLock(folder, { logger, staleMs: lockStaleMs, timeoutMs: lockTimeoutMs }, work)
  const gapListeners = new Set<() => void>()
  let store: OpenedStore | undefined
  let opening: Promise<OpenedStore> | undefined
  let secret: Promise<string> | undefined
  let heldSecret: string | undefined
  let isClosed = false
  let closing: Promise<void> | undefined

  async function open(): Promise<OpenedStore> {
    await prepareFolder(folder)
    await removeAbandonedLocks(folder)
    if (!(await isSetUp(folder))) await locked((lock) => setUp(folder, lock, logger))
    store = await openStore({
      folder,
      logger,
      now: () => (clock ? clock.now() : Date.now()),
      timeoutMs: lockTimeoutMs,
      onFlush: async () => {
        if (heldSecret !== undefined) await restoreSecret(heldSecret, secretContext)
      },
    })
    return store
  }

  function getStore(): OpenedStore | Promise<OpenedStore> {
    if (isClosed) throw createStorageError('STORAGE_CLOSED', `The store ${folder.path} was closed.`)
    return openOnce()
  }

  /** Returns the store, which is opened on first use. If opening fails, the next use tries again. */
  function openOnce(): OpenedStore | Promise<OpenedStore> {
    if (store) return store
    opening ??= open().finally(() => {
      opening = undefined
    })
    return opening
  }

  async function closeStore(): Promise<void> {
    await opening?.catch(noop)
    await secret?.catch(noop)
    await store?.close()
  }

  const secretContext: SecretContext = {
    folder,
    logger,
    locked,
    fingerprint: {
      read: async () => {
        const { engine, table } = await openOnce()
        return engine.read(() => table.getSecretFingerprint())
      },
      write: async (fingerprint) => {
        const { engine, table } = await openOnce()
        await engine.change(() => table.setSecretFingerprint(fingerprint))
      },
    },
  }

  const watchers = createWatchers(() => {
    store?.table.skipChanges()
    let lastFailure = ''
    async function reportChanges(): Promise<void> {
      try {
        const { engine, table } = await getStore()
        const { keys, isGap } = await engine.read(() => table.changes())
        for (const key of keys) watchers.notify(key)
        if (isGap) for (const tellGap of gapListeners) tellGap()
        lastFailure = ''
      } catch (error) {
        const text = String(error)
        if (!isClosed && text !== lastFailure)
          logger.error('The store could not be read while watching it for changes.', { error: text })
        lastFailure = text
      }
    }
    return poll(reportChanges, Math.min(pollMs, MAX_POLL_MS))
  })

  return {
    atomic: true,
    ...createLocalOperations({ opened: getStore, checkWrite }),

    watch(onChange, onGap) {
      const stop = watchers.add(onChange)
      const gap = () => onGap?.()
      gapListeners.add(gap)
      return () => {
        gapListeners.delete(gap)
        stop()
      }
    },

    async ownSecret() {
      await getStore()
      secret ??= ownSecret(secretContext)
      try {
        heldSecret = await secret
        return heldSecret
      } catch (error) {
        secret = undefined
        throw error
      }
    },

    close() {
      watchers.clear()
      isClosed = true
      closing ??= closeStore()
      return closing
    },
  }
}

/** Maximum interval between polls, in ms, so watchers are notified within 100 ms. */
const MAX_POLL_MS = 50
/** A function that every runtime with SQLite has, but that the ES2022 types lack. */
const { isWellFormed: wellFormed }: { isWellFormed(): boolean } = Object(String.prototype)
const isWellFormed = (text: string): boolean => Reflect.apply(wellFormed, text, [])

/** Throws `STORAGE_NOT_TEXT` for strings that SQLite doesn't store exactly: Node 22 and Deno read a string only up to its first NUL. */
function checkWrite(key: string, value: string): void {
  for (const text of [key, value])
    if (!isWellFormed(text) || text.includes('\u0000'))
      throw createStorageError(
        'STORAGE_NOT_TEXT',
        `The file store does not support NUL or unpaired surrogates. Escape them in "${key.slice(0, 100)}".`,
      )
}

const noop = () => {}
const silent: Logger = { warn() {}, error() {} }

/** Checks the options. Rejects an empty path, which would mean the current working directory. */
function normalizeOptions(options: string | FileStorageOptions): FileStorageOptions {
  const all = typeof options === 'object' ? options : { path: options }
  checkOptions(all, knownOptions)
  if (typeof all.path !== 'string' || all.path.trim() === '')
    throw new TypeError("fileStorage takes the path of a folder used only for the store: fileStorage('./data').")
  return all
}

const knownOptions = {
  path: true,
  clock: true,
  logger: true,
  lockStaleMs: true,
  lockTimeoutMs: true,
  pollMs: true,
} as const
