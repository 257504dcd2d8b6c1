import type { Clock, Storage } from '../../src/index.ts'
import { checkOptions } from '../lib/check-options.ts'
import { deleteRow, incrementRow, type Rows, setRow } from './lib/row-operations.ts'
import { createTable } from './lib/row-table.ts'
import { createWatchers } from './lib/watchers.ts'

/** Options for `memoryStorage`; all are optional. */
export interface MemoryStorageOptions {
  /** The clock used to measure `ttlMs`. Default: the platform's. */
  clock?: Pick<Clock, 'now'>
}

/**
 * Stores all data in memory, for the object's lifetime. Atomic: several gateways may share one object. Watchers receive every change, including their
 * own gateway's, because the object can't tell which gateway made it.
 */
export function memoryStorage(options: MemoryStorageOptions = {}): Storage {
  checkOptions(options, { clock: true })
  const { clock = { now: () => Date.now() } } = options
  const table = createTable()
  const watchers = createWatchers()
  let secret: string | undefined // Workers don't allow random values before the first request
  let writes = 0
  let sweepAt = MIN_SWEEP_SIZE

  const rows: Rows = {
    get: (key) => table.get(key, clock.now()),
    put(key, row) {
      table.put(key, row)
      if (table.size > sweepAt) sweep()
      watchers.notify(key)
    },
    remove(key) {
      table.remove(key)
      watchers.notify(key)
    },
  }

  const createStamp = () => ({ now: clock.now(), version: String(++writes) })

  /** Removes expired rows each time the table has doubled, which takes amortized constant time per write. */
  function sweep() {
    const now = clock.now()
    for (const [key, { expiresAt }] of table.entries())
      if (expiresAt !== undefined && expiresAt <= now) table.remove(key)
    sweepAt = Math.max(MIN_SWEEP_SIZE, 2 * table.size)
  }

  return {
    atomic: true,
    usageRecordLimit: { records: MAX_RECORDS, bytes: MAX_RECORD_BYTES },
    get: async (key) => {
      const row = rows.get(key)
      return row && { value: row.value, version: row.version }
    },
    set: async (key, value, options) => setRow(rows, key, { ...options, value }, createStamp()),
    delete: async (key, options) => deleteRow(rows, key, options),
    list: async (prefix, options) => table.list(prefix, { ...options, now: clock.now() }),
    increment: async (key, by, options) => incrementRow(rows, key, { by, ttlMs: options?.ttlMs }, createStamp()),
    watch: (onChange) => watchers.add(onChange),
    async ownSecret() {
      secret ??= randomSecret()
      return secret
    },
    close: async () => {}, // does nothing, because other gateways may use the same object
  }
}

/** Limits on usage records, which would otherwise fill the memory. */
const MAX_RECORDS = 100_000
const MAX_RECORD_BYTES = 32 * 1024 * 1024
const MIN_SWEEP_SIZE = 1_000

function randomSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
