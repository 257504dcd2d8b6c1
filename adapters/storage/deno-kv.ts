import type { Clock, Storage } from '../../src/index.ts'
import { checkOptions } from '../lib/check-options.ts'
import { KvChangeLog } from './deno-kv/kv-change-log.ts'
import type { DenoKv } from './deno-kv/kv-database.ts'
import { KvRows } from './deno-kv/kv-rows.ts'
import { toOrdered } from './lib/ordered-text.ts'
import { incrementSum } from './lib/row-operations.ts'
import { createRunningOperations } from './lib/running-operations.ts'
import { createStorageError } from './lib/storage-error.ts'
import { checkWrite } from './lib/value-limits.ts'

export type { DenoKv } from './deno-kv/kv-database.ts'

/** Options for `denoKvStorage`; all are optional. */
export interface DenoKvStorageOptions {
  /** The first part of every key, at most 100 bytes. Default: `signalbox`. */
  prefix?: string
  /** The clock used to measure `ttlMs`. Default: the platform's. */
  clock?: Pick<Clock, 'now'>
  /** How often `watch` checks for changes that the database doesn't announce, in ms. Default: 1,000. */
  pollMs?: number
}

/** Deno KV accepts values of up to 65,536 bytes, including its own encoding, and keys of up to 2,048 bytes, in which NUL counts twice. */
const LIMITS = { largestValueBytes: 65_000, longestKeyBytes: 960 }

/**
 * Stores all data in Deno KV, which you open and close. Atomic for all processes that use the same database and prefix. Errors have a
 * `code` (`STORAGE_…`). Throws a TypeError for invalid arguments.
 */
export function denoKvStorage(kv: DenoKv, options: DenoKvStorageOptions = {}): Storage {
  checkOptions(options, { prefix: true, clock: true, pollMs: true })
  const { prefix = 'signalbox', clock = { now: () => Date.now() }, pollMs = 1_000 } = options
  if (typeof kv?.atomic !== 'function')
    throw new TypeError('denoKvStorage takes a database: denoKvStorage(await Deno.openKv()).')
  if (!/^[!-~]{1,100}$/.test(prefix)) throw new TypeError('prefix must be 1 to 100 visible ASCII characters.')
  const store = `The Deno KV store "${prefix}"`
  const sizes = { ...LIMITS, store }
  const log = new KvChangeLog(kv, prefix, pollMs)
  const rows = new KvRows(kv, { prefix, store, clock, log })
  const operations = createRunningOperations(store)

  const run = <T>(work: () => Promise<T>) =>
    operations.run(() =>
      work().catch((cause: unknown) => {
        if (cause instanceof Error && cause.name === 'StorageError') throw cause
        const help = 'Check that the database is open and reachable.'
        throw createStorageError('STORAGE_UNREACHABLE', `${store} failed. ${help}`, cause)
      }),
    )

  const getExpiry = (ttlMs: number | undefined) => (ttlMs === undefined ? {} : { expiresAt: clock.now() + ttlMs })

  return {
    atomic: true,
    ...LIMITS,

    get: (key) =>
      run(async () => {
        await log.updatePosition()
        const row = await rows.get(key)
        return row && { value: row.value, version: row.version }
      }),

    list: (start, options) =>
      run(async () => {
        await log.updatePosition()
        return rows.list(start, options)
      }),

    async set(key, value, { ifVersion, ttlMs } = {}) {
      checkWrite(toOrdered(key), value, ttlMs, sizes)
      const next = { value, ...getExpiry(ttlMs) }
      return run(() =>
        ifVersion === undefined
          ? rows.put(key, next)
          : rows.change(key, (row) => ((row?.version ?? null) === ifVersion ? next : undefined)),
      )
    },

    delete: (key, { ifVersion } = {}) =>
      run(async () => {
        const version = await rows.change(key, (row) =>
          row && (ifVersion === undefined || row.version === ifVersion) ? 'deleted' : undefined,
        )
        return version !== false
      }),

    async increment(key, by, { ttlMs } = {}) {
      checkWrite(toOrdered(key), '', ttlMs, sizes)
      return run(async () => {
        let sum = 0
        await rows.change(key, (row) => {
          sum = incrementSum(key, row, by)
          const { expiresAt } = row ?? getExpiry(ttlMs)
          return { value: String(sum), ...(expiresAt !== undefined && { expiresAt }) }
        })
        return sum
      })
    },

    watch: log.watchers.add,

    async close() {
      log.watchers.clear()
      await operations.close()
    },
  }
}
