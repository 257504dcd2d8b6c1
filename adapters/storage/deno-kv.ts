import type { Clock, Storage, Stored } from '../../src/index.ts'
import { checkOptions } from '../lib/check-options.ts'
import { fromOrdered, getUpperBound, toOrdered } from './lib/ordered-text.ts'
import { describeForeignRow, incrementSum } from './lib/row-operations.ts'
import { storageError } from './lib/storage-error.ts'
import { checkWrite } from './lib/value-limits.ts'
import { sleep, withTimeout } from './lib/wait.ts'
import { createWatchers } from './lib/watchers.ts'

type Key = Array<string | number>

interface Entry {
  key: readonly unknown[]
  value: unknown
  versionstamp: string | null
}

interface Atomic {
  check(entry: { key: Key; versionstamp: string | null }): Atomic
  set(key: Key, value: unknown, options?: { expireIn?: number }): Atomic
  delete(key: Key): Atomic
  sum(key: Key, by: bigint): Atomic
  commit(): Promise<{ ok: true; versionstamp: string } | { ok: false }>
}

/** The result of `Deno.openKv()`. */
export interface DenoKv {
  get(key: Key): Promise<Entry>
  list(range: { start: Key; end: Key }, options: { limit?: number; batchSize: number }): AsyncIterable<Entry>
  atomic(): Atomic
  watch(keys: Key[]): ReadableStream<unknown>
}

/** Options for `denoKvStorage`, all optional. */
export interface DenoKvStorageOptions {
  /** The first part of all keys, at most 100 bytes; default `signalbox`. */
  prefix?: string
  /** The clock that `ttlMs` is measured with; default: the platform's. */
  clock?: Pick<Clock, 'now'>
  /** How often `watch` checks for changes that the database doesn't announce, in ms; default 1,000. */
  pollMs?: number
}

/** Deno KV accepts values of up to 65,536 bytes, including its own encoding, and keys of up to 2,048 bytes, in which NUL counts twice. */
const LIMITS = { largestValueBytes: 65_000, longestKeyBytes: 960 }
/** How long to retry a write that conflicts with other writers. */
const RETRY_MS = 4_000
/** How much later than `clock` Deno KV removes expired entries by its own clock, so that `clock` decides what has expired. */
const EXPIRY_MARGIN_MS = 60_000
/** How long to keep the names of changed keys, and how far the clocks of two writers may differ before a watcher reports all keys. */
const LOG_MS = 300_000
const SKEW_MS = 10_000
const PAUSE_MS = 100
/** A watcher restarts if it gets no response for this long. */
const WATCH_TIMEOUT_MS = 5_000

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
  const entryKey = (key: string): Key => [prefix, 'entry', toOrdered(key)]
  /** The key that stores the number of writes. */
  const counterKey: Key = [prefix, 'writes']
  const watchers = createWatchers()
  const gapListeners = new Set<() => void>()
  const running = new Set<Promise<unknown>>()
  let stopFeed: (() => void) | undefined
  let isClosed = false
  /** The latest write that a read or a watcher has seen. */
  let position: WritePosition | undefined

  /** Runs an operation of the store; `close` waits for it. */
  async function run<T>(work: () => Promise<T>): Promise<T> {
    if (isClosed) throw storageError('STORAGE_CLOSED', `${store} was closed.`)
    const result = work()
    running.add(result)
    try {
      return await result
    } catch (cause) {
      if (cause instanceof Error && cause.name === 'StorageError') throw cause
      const help = 'Check that the database is open and reachable.'
      throw storageError('STORAGE_UNREACHABLE', `${store} failed. ${help}`, cause)
    } finally {
      running.delete(result)
    }
  }

  async function readLastWrite(): Promise<WritePosition> {
    const { value, versionstamp } = await kv.get(counterKey)
    return { count: readCount(value), version: versionstamp ?? '' }
  }

  /** Called before a read, so that watchers added later report the changes since that read. */
  async function updatePosition(): Promise<void> {
    if (stopFeed && position) return
    const now = await readLastWrite()
    if (!stopFeed || !position) position = now
  }

  /**
   * Converts an entry to a row. An entry from another program is read as one damaged record, which doesn't hide other records and can be replaced.
   */
  function toRow({ value, versionstamp }: Entry): KvRow | undefined {
    if (versionstamp === null) return undefined
    const row: NewRow = parseNewRow(value) ?? { value: describeForeignRow(value) }
    return row.expiresAt !== undefined && row.expiresAt <= clock.now() ? undefined : { ...row, version: versionstamp }
  }

  /** Commits a write, together with the name of its key for watchers. */
  async function commit(key: string, next: NewRow | 'deleted', current?: Entry): Promise<string | undefined> {
    const name = entryKey(key)
    const write = kv.atomic()
    if (current) write.check({ key: name, versionstamp: current.versionstamp })
    if (next === 'deleted') write.delete(name)
    else {
      const { value, expiresAt } = next
      const life =
        expiresAt === undefined ? {} : { expireIn: Math.max(1, Math.ceil(expiresAt - clock.now() + EXPIRY_MARGIN_MS)) }
      write.set(name, { value: new TextEncoder().encode(value), ...(expiresAt !== undefined && { expiresAt }) }, life)
    }
    write.set([prefix, 'log', Date.now(), crypto.randomUUID()], key, { expireIn: LOG_MS }).sum(counterKey, 1n)
    const result = await write.commit().catch((cause: unknown) => {
      if (isLocked(cause)) return { ok: false as const }
      throw cause
    })
    return result.ok ? result.versionstamp : undefined
  }

  /** Writes the result of `next` for the current entry, and retries if another write intervenes; `undefined` leaves the entry unchanged. */
  async function change(key: string, next: (row: KvRow | undefined) => NewRow | 'deleted' | undefined) {
    return retryUntilDone(key, async () => {
      const current = await kv.get(entryKey(key))
      const wanted = next(toRow(current))
      return wanted ? commit(key, wanted, current) : false
    })
  }

  async function retryUntilDone<Result>(key: string, write: () => Promise<Result | undefined>): Promise<Result> {
    for (const until = performance.now() + RETRY_MS; ; await sleep(Math.random() * 20)) {
      const result = await write()
      if (result !== undefined) return result
      if (performance.now() > until)
        throw storageError(
          'STORAGE_LOCKED',
          `${store} has too many concurrent writes to "${key.slice(0, 100)}". Try again.`,
        )
    }
  }

  const expiry = (ttlMs: number | undefined) => (ttlMs === undefined ? {} : { expiresAt: clock.now() + ttlMs })

  /** Reports every write since the last one that was seen. Each write has increased the write count and stored the name of its key. */
  async function reportWrites(): Promise<void> {
    const from = position
    const now = await readLastWrite()
    position ??= now
    if (!from || now.version <= from.version) return
    let names = await listChangedSince(from, now, Date.now() - pollMs - SKEW_MS)
    if (names.length < now.count - from.count) names = await listChangedSince(from, now, 0)
    if (names.length < now.count - from.count) for (const listener of gapListeners) listener()
    position = now
    for (const name of new Set(names)) watchers.notify(name)
  }

  async function listChangedSince(from: WritePosition, to: WritePosition, startMs: number): Promise<string[]> {
    const names: string[] = []
    const range = { start: [prefix, 'log', startMs], end: [prefix, 'log', Number.POSITIVE_INFINITY] }
    for await (const { value, versionstamp } of kv.list(range, { batchSize: 500 }))
      if (versionstamp && versionstamp > from.version && versionstamp <= to.version) names.push(String(value))
    return names
  }

  function startFeed(): () => void {
    let reader: ReadableStreamDefaultReader<unknown> | undefined
    let change: Promise<{ done: boolean }> | undefined
    let isOver = false

    async function follow(): Promise<void> {
      reader ??= kv.watch([counterKey]).getReader()
      change ??= reader.read()
      await withTimeout(reportWrites(), WATCH_TIMEOUT_MS)
      const news = await withTimeout(change, pollMs, () => undefined)
      if (news?.done) throw new Error('the database ended its change stream')
      if (news) change = undefined
    }

    function end(): void {
      change?.catch(() => {})
      reader?.cancel().catch(() => {})
      reader = change = undefined
    }

    async function run(): Promise<void> {
      while (!isOver) {
        await follow().catch(async () => {
          end() // the next check finds changes that are missed in the meantime
          await sleep(PAUSE_MS)
        })
      }
    }

    void run()
    return () => {
      isOver = true
      end()
    }
  }

  return {
    atomic: true,
    ...LIMITS,

    get: (key) =>
      run(async () => {
        await updatePosition()
        const row = toRow(await kv.get(entryKey(key)))
        return row && { value: row.value, version: row.version }
      }),

    async set(key, value, { ifVersion, ttlMs } = {}) {
      checkWrite(toOrdered(key), value, ttlMs, sizes)
      const next = { value, ...expiry(ttlMs) }
      return run(async () =>
        ifVersion === undefined
          ? retryUntilDone(key, () => commit(key, next))
          : change(key, (row) => ((row?.version ?? null) === ifVersion ? next : undefined)),
      )
    },

    delete: (key, { ifVersion } = {}) =>
      run(async () => {
        const isWanted = (row: KvRow | undefined) => row && (ifVersion === undefined || row.version === ifVersion)
        return (await change(key, (row) => (isWanted(row) ? 'deleted' : undefined))) !== false
      }),

    list: (start, { after, limit = Number.POSITIVE_INFINITY } = {}) =>
      run(async () => {
        await updatePosition()
        const found: Array<Stored & { key: string }> = []
        const from = after !== undefined && after >= start ? `${after}\0` : start // the smallest string after `after`
        if (!from.startsWith(start) || limit < 1) return found
        const range = { start: entryKey(from), end: [prefix, 'entry', getUpperBound(toOrdered(start))] }
        for await (const entry of kv.list(range, { batchSize: Math.min(500, limit) })) {
          const row = toRow(entry)
          if (row) found.push({ key: fromOrdered(String(entry.key[2])), value: row.value, version: row.version })
          if (found.length >= limit) break
        }
        return found
      }),

    async increment(key, by, { ttlMs } = {}) {
      checkWrite(toOrdered(key), '', ttlMs, sizes)
      return run(async () => {
        let sum = 0
        await change(key, (row) => {
          sum = incrementSum(key, row, by)
          const { expiresAt } = row ?? expiry(ttlMs)
          return { value: String(sum), ...(expiresAt !== undefined && { expiresAt }) }
        })
        return sum
      })
    },

    watch(onChange, onGap) {
      const stop = watchers.add(onChange)
      const gap = () => onGap?.()
      gapListeners.add(gap)
      stopFeed ??= startFeed()
      return () => {
        stop()
        gapListeners.delete(gap)
        if (watchers.size === 0) stopFeed = void stopFeed?.()
      }
    },

    async close() {
      isClosed = true
      stopFeed = void stopFeed?.()
      watchers.clear()
      gapListeners.clear()
      await Promise.allSettled(running)
    },
  }
}

/** The row that a write stores. */
interface NewRow {
  value: string
  expiresAt?: number
}

type KvRow = NewRow & Stored

/** A write: the number of writes up to it, and its version, which increases with each write. */
interface WritePosition {
  count: number
  version: string
}

/** Returns the number in a `Deno.KvU64`. */
function readCount(value: unknown): number {
  return typeof value === 'object' && value !== null && 'value' in value ? Number(value.value) : 0
}

/** Parses a value that this adapter has written; returns `undefined` for any other value. */
function parseNewRow(value: unknown): NewRow | undefined {
  if (typeof value !== 'object' || value === null || !('value' in value)) return undefined
  const { value: bytes, expiresAt }: { value: unknown; expiresAt?: unknown } = value
  if (!(bytes instanceof Uint8Array)) return undefined
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
  return { value: text, ...(typeof expiresAt === 'number' && { expiresAt }) }
}

/** Whether the database file is locked by another process, so that nothing was written. */
const isLocked = (cause: unknown) => cause instanceof Error && /database is locked/.test(cause.message)
