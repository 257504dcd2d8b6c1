import type { Clock, Storage } from '../../src/index.ts'
import { checkOptions } from '../lib/check-options.ts'
import { fromOrdered, toOrdered } from './lib/ordered-text.ts'
import { createStorageError } from './lib/storage-error.ts'
import { checkWrite } from './lib/value-limits.ts'

/** A Workers KV namespace, as bound to a Worker. */
export interface KvNamespace {
  getWithMetadata(key: string): Promise<{ value: string | null; metadata: unknown }>
  put(key: string, value: string, options: { metadata: object; expirationTtl?: number }): Promise<void>
  delete(key: string): Promise<void>
  list(options: { prefix: string; cursor?: string }): Promise<{
    keys: Array<{ name: string }>
    list_complete: boolean
    cursor?: string
  }>
}

/** Options for `kvStorage`. */
export interface KvStorageOptions {
  /** The prefix of all keys. Default: `signalbox/`. */
  prefix?: string
  /** The clock used to measure `ttlMs`. Default: the platform's. */
  clock?: Pick<Clock, 'now'>
}

/**
 * Stores all data in a Workers KV namespace. Not atomic: if two writers write at the same moment, both succeed and the later one wins.
 * Changes take 60 s or more to reach other locations, and a key accepts one write per second. Errors have a `code` (`STORAGE_…`). Throws a
 * TypeError for invalid options.
 */
export function kvStorage(namespace: KvNamespace, options: KvStorageOptions = {}): Storage {
  checkOptions(options, { prefix: true, clock: true })
  if (typeof namespace?.getWithMetadata !== 'function')
    throw new TypeError('kvStorage takes a KV namespace: kvStorage(env.MY_KV).')
  const { prefix = 'signalbox/', clock = { now: () => Date.now() } } = options
  const getName = (key: string) => prefix + toOrdered(key)
  const longestKeyBytes = MAX_NAME_BYTES - new TextEncoder().encode(prefix).length
  const limits = { store: 'Workers KV', largestValueBytes: MAX_VALUE_BYTES, longestKeyBytes }
  const running = new Set<Promise<unknown>>()
  let isClosed = false

  /** Runs an operation on the store; `close` waits for it. */
  async function call<T>(work: () => Promise<T>): Promise<T> {
    if (isClosed) throw createStorageError('STORAGE_CLOSED', 'The store in Workers KV was closed.')
    const result = work().catch((cause: unknown) => {
      throw createStorageError(
        'STORAGE_UNREACHABLE',
        'Workers KV failed. A key accepts one write per second. Try again.',
        cause,
      )
    })
    const settled: Promise<unknown> = result.catch(() => {}).finally(() => running.delete(settled))
    running.add(settled)
    return result
  }

  async function read(name: string) {
    const { value, metadata } = await call(() => namespace.getWithMetadata(name))
    const { version, expiresAt } = parseMetadata(metadata)
    if (value === null || version === undefined || (expiresAt !== undefined && expiresAt <= clock.now()))
      return undefined
    return { value, version }
  }

  async function listNames(start: string): Promise<string[]> {
    const found: string[] = []
    for (let cursor: string | undefined; ; ) {
      const page = await call(() => namespace.list({ prefix: start, ...(cursor !== undefined && { cursor }) }))
      for (const { name } of page.keys) found.push(name)
      if (page.list_complete) return found
      cursor = page.cursor
    }
  }

  return {
    atomic: false,
    keepsUsage: false,
    largestValueBytes: MAX_VALUE_BYTES,
    longestKeyBytes,

    get: (key) => read(getName(key)),

    async set(key, value, { ifVersion, ttlMs } = {}) {
      checkWrite(toOrdered(key), value, ttlMs, limits)
      const name = getName(key)
      if (ifVersion !== undefined && ((await read(name))?.version ?? null) !== ifVersion) return false
      const version = crypto.randomUUID()
      const metadata = ttlMs === undefined ? { version } : { version, expiresAt: clock.now() + ttlMs }
      const expirationTtl = ttlMs === undefined ? undefined : Math.max(MIN_TTL_S, Math.ceil(ttlMs / 1_000))
      await call(() => namespace.put(name, value, { metadata, ...(expirationTtl !== undefined && { expirationTtl }) }))
      return version
    },

    async delete(key, { ifVersion } = {}) {
      const name = getName(key)
      const found = await read(name)
      if (!found || (ifVersion !== undefined && found.version !== ifVersion)) return false
      await call(() => namespace.delete(name))
      return true
    },

    async list(start, { after, limit = Number.POSITIVE_INFINITY } = {}) {
      const from = after === undefined ? undefined : getName(after)
      const all = (await listNames(getName(start))).filter((name) => from === undefined || isAfter(name, from))
      const listed: Array<{ key: string; value: string; version: string }> = []
      for (let index = 0; index < all.length && listed.length < limit; index += MAX_CONCURRENT_READS) {
        const some = await Promise.all(
          all.slice(index, index + MAX_CONCURRENT_READS).map(async (name) => ({ name, stored: await read(name) })),
        )
        for (const { name, stored } of some)
          if (stored && listed.length < limit) listed.push({ key: fromOrdered(name.slice(prefix.length)), ...stored })
      }
      return listed
    },

    async close() {
      await Promise.all(running)
      isClosed = true
    },
  }
}

/** Maximum length of a key in KV, in bytes. */
const MAX_NAME_BYTES = 512
const MAX_VALUE_BYTES = 25 * 1024 * 1024
/** Minimum expiry in KV, in seconds. For shorter expiries, the metadata shows whether a value has expired. */
const MIN_TTL_S = 60
/** How many values to read concurrently. */
const MAX_CONCURRENT_READS = 6

/** Returns whether a name comes after another. KV lists names in byte order, which matches the keys' code-unit order. */
const isAfter = (name: string, other: string) => fromOrdered(name) > fromOrdered(other)

/** Parses the metadata that this adapter stores with a value. Returns an empty object for any other metadata. */
function parseMetadata(metadata: unknown): { version?: string; expiresAt?: number } {
  if (typeof metadata !== 'object' || metadata === null) return {}
  const { version, expiresAt }: { version?: unknown; expiresAt?: unknown } = metadata
  return {
    ...(typeof version === 'string' && { version }),
    ...(typeof expiresAt === 'number' && { expiresAt }),
  }
}
