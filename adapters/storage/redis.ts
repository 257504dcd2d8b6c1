import type { Storage } from '../../src/index.ts'
import { checkOptions } from '../lib/check-options.ts'
import { createRunningOperations } from './lib/running-operations.ts'
import { createStorageError } from './lib/storage-error.ts'
import { checkWrite } from './lib/value-limits.ts'
import { createWatchers } from './lib/watchers.ts'
import { createLink, type IoredisClient, type NodeRedisClient } from './redis/redis-client.ts'
import { createRedisConnection } from './redis/redis-connection.ts'
import { startFeed } from './redis/redis-feed.ts'
import { createRedisRecords } from './redis/redis-records.ts'

export type { IoredisClient, NodeRedisClient } from './redis/redis-client.ts'

/** Options for `redisStorage`; all are optional. */
export interface RedisStorageOptions {
  /** The prefix of all key names, in braces, so that a cluster keeps them together; default `signalbox`. */
  prefix?: string
  /** A connected client that `watch` may block, and that nothing else uses. Default: `watch` creates and closes one with `client.duplicate()`. */
  subscriber?: NodeRedisClient | IoredisClient
}

const LIMITS = { largestValueBytes: 16 * 1024 * 1024, longestKeyBytes: 4_096 }

/**
 * Stores all data in Redis 6.2 or later, or Valkey, with a `redis` or `ioredis` client that you connect and close. Atomic for all processes
 * that use the same server and prefix; a write happens once or not at all, even if the client sends it repeatedly. Errors have a `code`
 * (`STORAGE_…`). Throws a TypeError for invalid arguments.
 */
export function redisStorage(client: NodeRedisClient | IoredisClient, options: RedisStorageOptions = {}): Storage {
  checkOptions(options, { prefix: true, subscriber: true })
  const { prefix = 'signalbox', subscriber } = options
  if (!/^[^{}]+$/.test(prefix)) throw new TypeError('prefix must be a string without braces.')
  const link = createLink(client)
  const listener = subscriber && createLink(subscriber)
  const store = `The Redis store "${prefix}"`
  const sizes = { ...LIMITS, store }
  const root = `{${prefix}}:`
  const connection = createRedisConnection(link, root, store)
  const records = createRedisRecords(connection, root)
  const operations = createRunningOperations(store)
  const watchers = createWatchers(() =>
    startFeed({
      link: listener ?? link,
      isReady: listener !== undefined,
      records,
      isReachable: connection.isReachable,
      onChange: watchers.notify,
      onGap: watchers.reportGap,
    }),
  )

  return {
    atomic: true,
    ...LIMITS,

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

    watch: watchers.add,

    async close() {
      watchers.clear()
      await operations.close()
      connection.end()
    },
  }
}
