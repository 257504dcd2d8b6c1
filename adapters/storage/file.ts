import type { Clock, Logger, Storage } from '../../src/index.ts'
import { checkOptions } from '../lib/check-options.ts'
import { removeAbandonedLocks } from './file/abandoned-locks.ts'
import { requireSqlite } from './file/file-database.ts'
import { prepareFolder, resolveFolder } from './file/folder.ts'
import { type Lock, withLock } from './file/lock.ts'
import { type OpenedStore, openStore } from './file/open-store.ts'
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
  /** The clock used to measure `ttlMs`. Default: the system's. */
  clock?: Pick<Clock, 'now'>
  /** Logs messages about imported data, broken locks, and a new secret. Default: the console. `false` drops them. */
  logger?: Logger | false
  /**
   * How long a process that is setting up the store may go without renewing the folder's lock before another process takes it, in ms. Default: 5,000.
   */
  lockStaleMs?: number
  /** How long an operation waits for another process's lock before it fails with `STORAGE_LOCKED`, in ms. Default: 15,000. */
  lockTimeoutMs?: number
  /** How often the store checks for other processes' changes, in ms. Default and maximum: 50. */
  pollMs?: number
}

/**
 * Stores all data in a SQLite database in a folder. Atomic for all processes on one machine that open the same folder. A write resolves once it is on
 * disk; a relaxed write resolves once it would survive the process exiting. Errors have a `code` (`STORAGE_…`). Throws a TypeError for invalid
 * options, and `STORAGE_UNSUPPORTED` on Node versions before 22.13.
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
  const runLocked = <T>(work: (lock: Lock) => Promise<T>) =>
    withLock(folder, { logger, staleMs: lockStaleMs, timeoutMs: lockTimeoutMs }, work)
  const gapListeners = new Set<() => void>()
  let secret: Promise<string> | undefined
  let heldSecret: string | undefined
  let isClosed = false
  let closing: Promise<void> | undefined

  const store = new LazyStore(async () => {
    await prepareFolder(folder)
    await removeAbandonedLocks(folder)
    if (!(await isSetUp(folder))) await runLocked((lock) => setUp(folder, lock, logger))
    return openStore({
      folder,
      logger,
      now: () => (clock ? clock.now() : Date.now()),
      timeoutMs: lockTimeoutMs,
      onFlush: async () => {
        if (heldSecret !== undefined) await restoreSecret(heldSecret, secretContext)
      },
    })
  })
  const secretContext: SecretContext = { folder, logger, runLocked, fingerprint: storeFingerprint(store) }

  function getStore(): OpenedStore | Promise<OpenedStore> {
    if (isClosed) throw createStorageError('STORAGE_CLOSED', `The store ${folder.path} was closed.`)
    return store.get()
  }

  async function closeStore(): Promise<void> {
    await store.waitForOpening()
    await secret?.catch(noop)
    await store.store?.close()
  }

  const watchers = createWatchers(() => {
    store.store?.table.skipChanges()
    const readChanges = async () => {
      const { engine, table } = await getStore()
      const { keys, isGap } = await engine.read(() => table.takeChanges())
      for (const key of keys) watchers.notify(key)
      if (isGap) for (const tellGap of gapListeners) tellGap()
    }
    const report = (error: string) => {
      if (!isClosed) logger.error('The store could not be read while watching it for changes.', { error })
    }
    return poll(reportOnce(readChanges, report), Math.min(pollMs, MAX_POLL_MS))
  })

  return {
    atomic: true,
    ...createLocalOperations({ openTable: getStore, checkWrite }),

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

/** A store that is opened on first use. If opening fails, the next use tries again. */
class LazyStore {
  readonly #open: () => Promise<OpenedStore>
  #opening: Promise<OpenedStore> | undefined
  store: OpenedStore | undefined

  constructor(open: () => Promise<OpenedStore>) {
    this.#open = open
  }

  get(): OpenedStore | Promise<OpenedStore> {
    if (this.store) return this.store
    this.#opening ??= this.#open()
      .then((opened) => {
        this.store = opened
        return opened
      })
      .finally(() => {
        this.#opening = undefined
      })
    return this.#opening
  }

  async waitForOpening(): Promise<void> {
    await this.#opening?.catch(noop)
  }
}

/** Reads and writes the secret's fingerprint in the store. */
const storeFingerprint = (store: LazyStore): SecretContext['fingerprint'] => ({
  read: async () => {
    const { engine, table } = await store.get()
    return engine.read(() => table.getSecretFingerprint())
  },
  write: async (fingerprint) => {
    const { engine, table } = await store.get()
    await engine.change(() => table.setSecretFingerprint(fingerprint))
  },
})

/** Runs `work` and reports its failures, except consecutive duplicates. */
function reportOnce(work: () => Promise<void>, report: (error: string) => void): () => Promise<void> {
  let lastFailure = ''
  return async () => {
    try {
      await work()
      lastFailure = ''
    } catch (error) {
      if (String(error) !== lastFailure) report(String(error))
      lastFailure = String(error)
    }
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
