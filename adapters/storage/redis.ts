import type { Storage, Stored } from '../../src/index.ts'
import { checkOptions } from '../lib/check-options.ts'
import { fromOrdered, getUpperBound, toOrdered } from './lib/ordered-text.ts'
import { storageError } from './lib/storage-error.ts'
import { checkWrite } from './lib/value-limits.ts'
import { createWatchers } from './lib/watchers.ts'
import {
  type Command,
  createLink,
  failure,
  type IoredisClient,
  isTransient,
  type NodeRedisClient,
  noop,
  sleep,
  withTimeout,
} from './redis/redis-client.ts'
import { startFeed } from './redis/redis-feed.ts'
import { WRITE } from './redis/scripts.ts'

export type { IoredisClient, NodeRedisClient } from './redis/redis-client.ts'

/** Options for `redisStorage`; all are optional. */
export interface RedisStorageOptions {
  /** The prefix of all key names, in braces, so that a cluster keeps them together; default `signalbox`. */
  prefix?: string
  /** A connected client that `watch` may block, and that nothing else uses. Default: `watch` creates and closes one with `client.duplicate()`. */
  subscriber?: NodeRedisClient | IoredisClient
}

/** The time limit of a command, including retries after a lost connection. After a failure, the shorter limit applies until a command succeeds. */
const COMMAND_TIMEOUT_MS = 4_000
const SHORT_TIMEOUT_MS = 250
const PAUSE_MS = 50
/** How long to wait for a new connection before trying another one. */
const OPENING_MS = 1_000
/** Entries per page of a list. */
const PAGE = 500

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
  const root = `{${prefix}}:`
  const store = `The Redis store "${prefix}"`
  const sizes = { ...LIMITS, store }
  const index = `${root}i`
  const stream = `${root}s`
  const getEntryKey = (name: string) => `${root}k:${name}`
  const writer = crypto.randomUUID()
  const gapListeners = new Set<() => void>()
  const running = new Set<Promise<unknown>>()
  let isClosed = false
  /** Whether the last command failed to reach the server. */
  let isUnreachable = false
  /** How far the server's clock is ahead of this one, or a lower bound of it. It starts so low that the first write counts as late and is sent again. */
  let clockOffsetMs = -1e15

  const watchers = createWatchers(() =>
    startFeed({
      link: listener ?? link,
      isReady: listener !== undefined,
      index,
      stream,
      writer,
      isReachable: () => !isUnreachable,
      onChange: watchers.notify,
      onGap: () => {
        for (const gap of gapListeners) gap()
      },
    }),
  )

  /**
   * Replaces your client's connection after a failure or silence, because the old one might return the reply to one command as the reply to another.
   */
  let own: ReturnType<typeof link.duplicate> | undefined
  let opening: Promise<unknown> | undefined
  let openedAt = -OPENING_MS

  function replace(): void {
    if (performance.now() - openedAt < OPENING_MS) return
    openedAt = performance.now()
    own?.end()
    own = link.duplicate()
    opening = own.connected.catch(noop) // each command rejects, too, and reports the failure
  }

  async function sendOnce(args: Command): Promise<unknown> {
    await opening
    return (own ?? link).send(args, root)
  }

  /** Sends a command until it gets a response, so every command may run more than once. */
  async function send(args: () => Command, until: number): Promise<unknown> {
    for (;;) {
      try {
        const reply = await withTimeout(sendOnce(args()), Math.max(0, until - performance.now()))
        isUnreachable = false
        return reply
      } catch (cause) {
        const mayPass = isTransient(cause)
        if (mayPass) replace()
        if (!mayPass || performance.now() + PAUSE_MS > until) {
          isUnreachable = mayPass
          throw failure(cause, store)
        }
        await sleep(PAUSE_MS)
      }
    }
  }

  /** Runs an operation of the store; `close` waits for it. */
  async function run<T>(work: () => Promise<T>): Promise<T> {
    if (isClosed) throw storageError('STORAGE_CLOSED', `${store} was closed.`)
    const result = work()
    running.add(result)
    try {
      return await result
    } finally {
      running.delete(result)
    }
  }

  const deadline = () => performance.now() + (isUnreachable ? SHORT_TIMEOUT_MS : COMMAND_TIMEOUT_MS)
  const read = (...args: Command) => send(() => args, deadline())

  /**
   * Applies a write exactly once, no matter how often it is sent, and never after this function has rejected. The script compares the server's
   * clock, which each reply contains, with the write's deadline.
   */
  async function write(
    operation: 'set' | 'delete' | 'increment',
    key: string,
    {
      value = '',
      ifVersion,
      ttlMs,
    }: { value?: string; ifVersion?: string | null | undefined; ttlMs?: number | undefined },
  ): Promise<{ result: string; id: string }> {
    const id = crypto.randomUUID()
    const name = toOrdered(key)
    const ttl = ttlMs === undefined ? '' : String(Math.ceil(ttlMs))
    const touched = [getEntryKey(name), index, `${root}x`, stream, `${root}o:${id}`]
    const expected = ifVersion === undefined ? '*' : ifVersion === null ? '-' : `=${ifVersion}`
    const until = deadline()
    for (;;) {
      const args = () => {
        const latest = String(until + clockOffsetMs)
        return ['EVAL', WRITE, '5', ...touched, operation, name, id, expected, value, ttl, writer, latest] as const
      }
      const [serverTime, result] = (await send(args, until)) as [string, string] // the script returns these two
      clockOffsetMs = Number(serverTime) - performance.now()
      if (result !== 'late') return { result, id } // a late write is retried until the timeout
    }
  }

  function entry(reply: unknown): Stored | undefined {
    if (reply === null) return undefined
    const text = String(reply)
    const [, version = text.slice(0, 36), value = text] = ENTRY.exec(text) ?? [] // an entry from another program is read as one damaged record
    return { value, version }
  }

  async function list(prefix: string, { after = '', limit = Number.POSITIVE_INFINITY }: RangeOptions = {}) {
    const found: Array<Stored & { key: string }> = []
    const start = toOrdered(prefix)
    let from = after && after >= prefix ? `(${toOrdered(after)}` : `[${start}`
    while (found.length < limit) {
      const count = Math.min(PAGE, limit - found.length)
      const page = await read('ZRANGEBYLEX', index, from, `(${getUpperBound(start)}`, 'LIMIT', '0', String(count))
      const names = page as string[] // Redis returns names
      const texts = names.length > 0 ? await read('MGET', ...names.map(getEntryKey)) : []
      for (const [at, name] of names.entries()) {
        const stored = entry((texts as unknown[])[at])
        if (stored) found.push({ key: fromOrdered(name), ...stored })
      }
      if (names.length < count) break
      from = `(${names.at(-1)}`
    }
    return found
  }

  return {
    atomic: true,
    ...LIMITS,

    get: (key) => run(async () => entry(await read('GET', getEntryKey(toOrdered(key))))),

    list: (prefix, range) => run(() => list(prefix, range)),

    set: (key, value, { ifVersion, ttlMs } = {}) =>
      run(async () => {
        checkWrite(key, value, ttlMs, sizes)
        const { result, id } = await write('set', key, { value, ifVersion, ttlMs })
        return result === 'ok' && id
      }),

    delete: (key, { ifVersion } = {}) => run(async () => (await write('delete', key, { ifVersion })).result === 'ok'),

    increment: (key, by, { ttlMs } = {}) =>
      run(async () => {
        checkWrite(key, '', ttlMs, sizes)
        const sum = Number((await write('increment', key, { value: String(by), ttlMs })).result)
        if (!Number.isNaN(sum)) return sum
        throw storageError('STORAGE_NOT_A_NUMBER', `"${key}" cannot be incremented: not a safe integer.`)
      }),

    watch(onChange, onGap) {
      const gap = () => onGap?.()
      gapListeners.add(gap)
      const stop = watchers.add(onChange)
      return () => {
        stop()
        gapListeners.delete(gap)
      }
    },

    async close() {
      isClosed = true
      watchers.clear()
      gapListeners.clear()
      await Promise.allSettled(running)
      own?.end()
    },
  }
}

type RangeOptions = NonNullable<Parameters<Storage['list']>[1]>

/** An entry: its version, a space, and the value. */
const ENTRY = /^([\da-f-]{36}) ([\s\S]*)$/
