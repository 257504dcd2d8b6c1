import type { Clock, Storage, Stored } from '../../src/index.ts'
import { checkOptions } from '../lib/check-options.ts'
import { createStorageError } from './lib/storage-error.ts'
import { checkWrite } from './lib/value-limits.ts'
import { sleep, withTimeout } from './lib/wait.ts'

/** A store that `unstorage`'s `createStorage()` returns, with any driver. */
export interface Unstorage {
  getItem(key: string): Promise<unknown>
  setItem(key: string, value: object): Promise<void>
  removeItem(key: string): Promise<void>
  getKeys(base: string): Promise<string[]>
}

/** Options for `unstorageStorage`; all are optional. */
export interface UnstorageStorageOptions {
  /** The prefix of all keys. Default: `signalbox`. */
  base?: string
  /** The clock used to measure `ttlMs`. Default: the platform's. */
  clock?: Pick<Clock, 'now'>
  /** Maximum size of a value that the driver accepts, in bytes. Default: 1 MiB. */
  largestValueBytes?: number
  /** Maximum length of a key, in bytes. Default: 512. The driver receives names up to three times as long. */
  longestKeyBytes?: number
}

/**
 * Stores all data through an `unstorage` driver. Not atomic: if two processes write at the same moment, both succeed and the later one wins; a single
 * storage object serializes its writes to each key. Not watched. `close()` leaves your storage open. Errors have a `code` (`STORAGE_…`). Throws a
 * TypeError for invalid options.
 */
export function unstorageStorage(storage: Unstorage, options: UnstorageStorageOptions = {}): Storage {
  checkOptions(options, { base: true, clock: true, largestValueBytes: true, longestKeyBytes: true })
  if (typeof storage?.getKeys !== 'function')
    throw new TypeError('unstorageStorage takes a storage: unstorageStorage(createStorage({ driver })).')
  const { base = 'signalbox', clock = { now: () => Date.now() } } = options
  const { largestValueBytes = 1024 * 1024, longestKeyBytes = 512 } = options
  if (!/^[a-z\d]+(?:[:_-][a-z\d]+)*$/.test(base))
    throw new TypeError('base must be a lowercase name, such as "app:signalbox".')
  const limits = { store: 'The storage', largestValueBytes, longestKeyBytes }
  /** The last operation on each key. */
  const lastOperations = new Map<string, Promise<unknown>>()
  let isClosed = false

  /** Runs operations on the same key one at a time, so no file is read while it is being written, or written twice at the same time. */
  async function runSequentially<T>(name: string, work: () => Promise<T>): Promise<T> {
    if (isClosed) throw createStorageError('STORAGE_CLOSED', 'The storage was closed.')
    const result = lastOperations.has(name) ? Promise.resolve(lastOperations.get(name)).then(work) : work()
    const operation: Promise<unknown> = result
      .catch(() => {})
      .finally(() => lastOperations.get(name) === operation && lastOperations.delete(name))
    lastOperations.set(name, operation)
    return result
  }

  const toStoredName = (key: string) => `${base}:${toName(key)}`

  async function read(key: string): Promise<Stored | undefined> {
    for (let tries = 1; ; tries++) {
      const item = await call(() => storage.getItem(toStoredName(key)))
      if (item === null || item === undefined) return undefined
      const row = parseItem(item)
      if (row?.expiresAt !== undefined && row.expiresAt <= clock.now()) return undefined
      if (row) return { value: row.value, version: row.version }
      if (tries === MAX_READS)
        return { value: typeof item === 'string' ? item : JSON.stringify(item), version: DAMAGED_VALUE }
      await sleep(PAUSE_MS)
    }
  }

  return {
    atomic: false,
    largestValueBytes,
    longestKeyBytes,

    get: (key) => runSequentially(key, () => read(key)),

    set: (key, value, { ifVersion, ttlMs } = {}) =>
      runSequentially(key, async () => {
        checkWrite(key, value, ttlMs, limits)
        if (ifVersion !== undefined && ((await read(key))?.version ?? null) !== ifVersion) return false
        const version = crypto.randomUUID()
        const item = { value, version, ...(ttlMs !== undefined && { expiresAt: clock.now() + ttlMs }) }
        await call(() => storage.setItem(toStoredName(key), item))
        return version
      }),

    delete: (key, { ifVersion } = {}) =>
      runSequentially(key, async () => {
        const found = await read(key)
        if (!found || (ifVersion !== undefined && found.version !== ifVersion)) return false
        await call(() => storage.removeItem(toStoredName(key)))
        return true
      }),

    async list(prefix, { after, limit = Number.POSITIVE_INFINITY } = {}) {
      if (isClosed) throw createStorageError('STORAGE_CLOSED', 'The storage was closed.')
      const names = await call(() => storage.getKeys(base))
      const keys = names.flatMap((name) => fromName(name.slice(base.length + 1)) ?? [])
      const matching = [...new Set(keys)].filter(
        (key) => key.startsWith(prefix) && (after === undefined || key > after),
      )
      matching.sort() // by code unit
      const listed: Array<Stored & { key: string }> = []
      for (let index = 0; index < matching.length && listed.length < limit; index += MAX_CONCURRENT_READS) {
        const batch = matching.slice(index, index + MAX_CONCURRENT_READS)
        const rows = await Promise.all(
          batch.map(async (key) => ({ key, stored: await runSequentially(key, () => read(key)) })),
        )
        for (const { key, stored } of rows) if (stored && listed.length < limit) listed.push({ key, ...stored })
      }
      return listed
    },

    async close() {
      await Promise.all(lastOperations.values())
      isClosed = true
    },
  }
}

/** How many values to read concurrently. */
const MAX_CONCURRENT_READS = 20
/** How many times to read a value that another process may be writing. */
const MAX_READS = 5
const PAUSE_MS = 10
/** The version of an entry that is damaged or from another program. Such an entry doesn't hide others and can be replaced. */
const DAMAGED_VALUE = 'damaged'
/** How long a driver operation blocks other operations, in ms. */
const OPERATION_TIMEOUT_MS = 4_000

/** Calls the driver and keeps only an error's message, because some drivers' errors contain the arguments of the call, including values. */
async function call<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await withTimeout(work(), OPERATION_TIMEOUT_MS)
  } catch (cause) {
    const text = cause instanceof Error ? cause.message.slice(0, 200) : ''
    throw createStorageError(
      'STORAGE_UNREACHABLE',
      `The storage driver failed${text && `: ${text}`}. Check the driver's options and that its backend is reachable.`,
    )
  }
}

/*
 * Names consist of lowercase letters, digits, and `-`, which every driver keeps unchanged, even in file names. Any other byte becomes `_` and two
 * digits. To keep file names short, every 200 characters become a folder whose name ends with an extra `_`.
 */

function toName(key: string): string {
  const name = key.replace(/[^a-z\d-]/gu, (char) =>
    Array.from(new TextEncoder().encode(char), (byte) => `_${byte.toString(16).padStart(2, '0')}`).join(''),
  )
  return name.replace(/.{200}(?=.)/g, '$&_:')
}

/** Returns the key for a name, or `undefined` for a name that this adapter didn't create. */
function fromName(name: string): string | undefined {
  try {
    return decodeURIComponent(name.replaceAll('_:', '').replaceAll('_', '%'))
  } catch {
    return undefined
  }
}

/** Parses an item that this adapter wrote. Returns `undefined` for any other item. */
function parseItem(item: unknown): (Stored & { expiresAt?: number }) | undefined {
  if (typeof item !== 'object' || item === null) return undefined
  const { value, version, expiresAt }: { value?: unknown; version?: unknown; expiresAt?: unknown } = item
  if (typeof value !== 'string' || typeof version !== 'string') return undefined
  return { value, version, ...(typeof expiresAt === 'number' && { expiresAt }) }
}
