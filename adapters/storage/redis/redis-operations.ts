import type { Storage } from '../../../src/index.ts'
import { createRunningOperations } from '../lib/running-operations.ts'
import { createStorageError } from '../lib/storage-error.ts'
import { checkWrite, type Sizes } from '../lib/value-limits.ts'
import type { RedisRecords } from './redis-records.ts'

/** Implements a store without `watch` on a database's records. `close` waits for running operations. */
export function createRedisOperations(records: RedisRecords, sizes: Sizes) {
  const { store, largestValueBytes, longestKeyBytes } = sizes
  const operations = createRunningOperations(store)
  return {
    ...{ atomic: true, largestValueBytes, longestKeyBytes },

    get: (key) => operations.run(() => records.get(key)),

    list: (prefix, range) => operations.run(() => records.list(prefix, range)),

    set: (key, value, { ifVersion, ttlMs } = {}) =>
      operations.run(async () => {
        checkWrite(key, value, ttlMs, sizes)
        const { result, id } = await records.write('set', key, { value, ifVersion, ttlMs })
        return result === 'ok' && id
      }),

    delete: (key, { ifVersion } = {}) =>
      operations.run(async () => (await records.write('delete', key, { ifVersion })).result === 'ok'),

    increment: (key, by, { ttlMs } = {}) =>
      operations.run(async () => {
        checkWrite(key, '', ttlMs, sizes)
        const sum = Number((await records.write('increment', key, { value: String(by), ttlMs })).result)
        if (!Number.isNaN(sum)) return sum
        throw createStorageError('STORAGE_NOT_A_NUMBER', `"${key}" cannot be incremented: not a safe integer.`)
      }),

    close: operations.close,
  } satisfies Storage
}
