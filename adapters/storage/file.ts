import type { Clock, Logger, Storage } from '../../src/index.ts'
import { checkOptions } from '../lib/check-options.ts'
import { folderAt, prepareFolder } from './file/folder.ts'
import { ownSecret, restoreSecret } from './file/secret.ts'
import { sweep } from './file/sweep.ts'
import { createView } from './file/view.ts'
import { watchStore } from './file/watch.ts'
import { createWriter } from './file/writer.ts'
import { storageError } from './lib/error.ts'
import { deleteRow, incrementRow, setRow } from './lib/row-operations.ts'
import { createWatchers } from './lib/watchers.ts'

/** The options of `fileStorage`; times in ms. */
export interface FileStorageOptions {
  /** The store's own folder; created with mode 0700 when it is missing. */
  path: string
  /** The clock that `ttlMs` is measured with; default: the system's. */
  clock?: Pick<Clock, 'now'>
  /** Gets messages about lost data, broken locks and a new secret; default: the console. `false` drops them. */
  logger?: Logger | false
  /** How long the holder of the lock may fail to renew it before another process takes it; default 5,000. */
  lockStaleMs?: number
  /** How long a write waits for the lock before it fails with `STORAGE_LOCKED`; default 15,000. */
  lockTimeoutMs?: number
  /** How often the file is checked for changes where the system does not report them; default 50. */
  pollMs?: number
}

/**
 * Keeps all data in one file of a folder. Atomic for all processes of one machine that open the same folder; a write resolves once it is on
 * the disk. Reads come from memory, after a check whether the file has changed. Errors have a `code` (`STORAGE_…`). Throws a TypeError on
 * invalid options.
 */
export function fileStorage(options: string | FileStorageOptions): Storage {
  const { path, clock, logger: sink, lockStaleMs, lockTimeoutMs, pollMs } = checked(options)
  const folder = folderAt(path)
  const now = () => (clock ? clock.now() : Date.now())
  const logger = sink === false ? silent : (sink ?? console)
  const watchers = createWatchers()
  const running = new Set<Promise<unknown>>()
  const view = createView({
    folder,
    logger,
    now,
    staleMs: lockStaleMs ?? 5_000,
    timeoutMs: lockTimeoutMs ?? 15_000,
    hasListeners: () => watchers.size > 0,
    onChange: watchers.tell,
    prepare: async (lock) => {
      if (heldSecret !== undefined) await restoreSecret(heldSecret, { folder, lock, logger })
    },
  })
  const writer = createWriter({ view, now })
  let opening: Promise<void> | undefined
  let secret: Promise<string> | undefined
  let heldSecret: string | undefined
  let stopWatching: (() => void) | undefined
  let isClosed = false

  /** Opens the store on first use. After a failure, the next use tries again. */
  async function open() {
    if (isClosed) throw storageError('STORAGE_CLOSED', `The store ${folder.path} was closed.`)
    opening ??= prepareFolder(folder).then(() => sweep(folder))
    await opening.catch((error: unknown) => {
      opening = undefined
      throw error
    })
  }

  /** Runs an operation of the store; `close` waits for it. */
  function run<T>(work: () => Promise<T>): Promise<T> {
    const result = open().then(work)
    const settled: Promise<void> = result.then(nothing, nothing).then(() => void running.delete(settled))
    running.add(settled)
    return result
  }

  const table = async () => (await view.fresh()).table

  return {
    atomic: true,

    get: (key) =>
      run(async () => {
        const row = (await table()).get(key, now())
        return row && { value: row.value, version: row.version }
      }),

    list: (prefix, range) => run(async () => (await table()).list(prefix, { ...range, now: now() })),

    set: (key, value, condition) =>
      run(() => writer.write((rows, stamp) => setRow(rows, key, { ...condition, value }, stamp))),

    delete: (key, condition) => run(() => writer.write((rows) => deleteRow(rows, key, condition))),

    increment: (key, by, ttl) =>
      run(() => writer.write((rows, stamp) => incrementRow(rows, key, { by, ttlMs: ttl?.ttlMs }, stamp))),

    watch(onChange) {
      const stop = watchers.add(onChange)
      stopWatching ??= watchStore(folder, { look: () => run(table), pollMs: pollMs ?? 50, logger })
      return () => {
        stop()
        if (watchers.size === 0) stopWatching = void stopWatching?.()
      }
    },

    ownSecret: () =>
      run(async () => {
        secret ??= ownSecret({ folder, view, logger })
        try {
          heldSecret = await secret
          return heldSecret
        } catch (error) {
          secret = undefined
          throw error
        }
      }),

    async close() {
      isClosed = true
      stopWatching?.()
      watchers.clear()
      await Promise.all(running)
      await writer.idle()
    },
  }
}

const nothing = () => {}
const silent: Logger = { warn() {}, error() {} }

/** Throws a TypeError that says what to pass: an empty path would mean the current working directory. */
function checked(options: string | FileStorageOptions): FileStorageOptions {
  const all = typeof options === 'object' ? options : { path: options }
  checkOptions(all, known)
  if (typeof all.path !== 'string' || all.path.trim() === '')
    throw new TypeError("fileStorage takes the path of a folder of the store's own: fileStorage('./data').")
  return all
}

const known = { path: true, clock: true, logger: true, lockStaleMs: true, lockTimeoutMs: true, pollMs: true } as const
