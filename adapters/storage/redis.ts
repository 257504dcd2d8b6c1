import type { Storage } from '../../src/index.ts'
import { checkOptions } from '../lib/check-options.ts'
import { createWatchers } from './lib/watchers.ts'
import { createLink, type IoredisClient, type NodeRedisClient } from './redis/redis-client.ts'
import { createRedisConnection } from './redis/redis-connection.ts'
import { startFeed } from './redis/redis-feed.ts'
import { createRedisOperations } from './redis/redis-operations.ts'
import { createRedisRecords } from './redis/redis-records.ts'

export type { IoredisClient, NodeRedisClient } from './redis/redis-client.ts'

/** Options for `redisStorage`; all are optional. */
export interface RedisStorageOptions {
  /** The prefix of all key names, in braces, so a cluster keeps them together. Default: `signalbox`. */
  prefix?: string
  /** A connected client that `watch` may block and that nothing else uses. Default: `watch` creates and closes one with `client.duplicate()`. */
  subscriber?: NodeRedisClient | IoredisClient
}

const LIMITS = { largestValueBytes: 16 * 1024 * 1024, longestKeyBytes: 4_096 }

/**
 * Stores all data in Redis 6.2 or later, or Valkey, with a `redis` or `ioredis` client that you connect and close. Atomic for all processes that use
 * the same server and prefix; a write is applied at most once, even if the client sends it repeatedly. Errors have a `code` (`STORAGE_…`). Throws a
 * TypeError for invalid arguments.
 */
export function redisStorage(client: NodeRedisClient | IoredisClient, options: RedisStorageOptions = {}): Storage {
  checkOptions(options, { prefix: true, subscriber: true })
  const { prefix = 'signalbox', subscriber } = options
  if (!/^[^{}]+$/.test(prefix)) throw new TypeError('prefix must be a string without braces.')
  const link = createLink(client)
  const listener = subscriber && createLink(subscriber)
  const store = `The Redis store "${prefix}"`
  const root = `{${prefix}}:`
  const connection = createRedisConnection(link, root, store)
  const records = createRedisRecords(connection, root)
  const operations = createRedisOperations(records, { ...LIMITS, store })
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
    ...operations,

    watch: watchers.add,

    async close() {
      watchers.clear()
      await operations.close()
      connection.end()
    },
  }
}
