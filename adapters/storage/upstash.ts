import type { Storage } from '../../src/index.ts'
import { checkOptions } from '../lib/check-options.ts'
import { createLinkedReader } from './redis/linked-entries.ts'
import { createRedisOperations } from './redis/redis-operations.ts'
import { createRedisRecords } from './redis/redis-records.ts'
import { createRestConnection } from './redis/redis-rest.ts'

/** Options for `upstashStorage`; all are optional. */
export interface UpstashStorageOptions {
  /** The database's REST URL. Default: the environment variable `UPSTASH_REDIS_REST_URL` or `KV_REST_API_URL`. */
  url?: string
  /** The database's REST token, which must be allowed to write. Default: `UPSTASH_REDIS_REST_TOKEN` or `KV_REST_API_TOKEN`. */
  token?: string
  /** The prefix of all key names. Default: `signalbox`. */
  prefix?: string
  /** Maximum size of a value, in bytes. Default: 900,000, because a free database accepts requests of up to 1 MB. */
  largestValueBytes?: number
  /** Sends the requests. Default: the global `fetch`. */
  fetch?: typeof fetch
}

/**
 * Stores all data in an Upstash Redis database over HTTP, without a package or a connection. Atomic for all clients of the database, including
 * `redisStorage` with the same prefix. Each read and each write is one request, and a write is applied at most once, even if it is retried. The
 * database isn't watched, so a gateway rereads it. Errors have a `code` (`STORAGE_…`). Throws a TypeError for missing or invalid options.
 */
export function upstashStorage(options: UpstashStorageOptions = {}): Storage {
  checkOptions(options, { url: true, token: true, prefix: true, largestValueBytes: true, fetch: true })
  const { prefix = 'signalbox', largestValueBytes = 900_000, fetch = (...args) => globalThis.fetch(...args) } = options
  const url = options.url ?? readVariable('UPSTASH_REDIS_REST_URL', 'KV_REST_API_URL')
  const token = options.token ?? readVariable('UPSTASH_REDIS_REST_TOKEN', 'KV_REST_API_TOKEN')
  if (!url || !/^https?:\/\//.test(url) || !token)
    throw new TypeError(
      'upstashStorage needs the REST URL and token of a database: set UPSTASH_REDIS_REST_URL and UPSTASH_REDIS_REST_TOKEN, or pass { url: "https://…", token }.',
    )
  if (!/^[^{}]+$/.test(prefix)) throw new TypeError('prefix must be a string without braces.')
  if (!(Number.isSafeInteger(largestValueBytes) && largestValueBytes >= 65_536))
    throw new TypeError('largestValueBytes must be an integer of at least 65,536.')
  const store = `The Upstash store "${prefix}"`
  const connection = createRestConnection({ url, token, fetch }, store)
  const root = `{${prefix}}:`
  return {
    ...createRedisOperations(createRedisRecords(connection, root), {
      store,
      largestValueBytes,
      longestKeyBytes: 4_096,
    }),
    getLinked: createLinkedReader(connection, root),
  }
}

/** Returns the first of these environment variables that is set, if the platform has environment variables. */
function readVariable(...names: string[]): string | undefined {
  const { process }: { process?: { env?: Record<string, string | undefined> } } = Object(globalThis)
  return names.map((name) => process?.env?.[name]).find((value) => value)
}
