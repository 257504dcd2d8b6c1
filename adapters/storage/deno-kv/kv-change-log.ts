import { sleep, withTimeout } from '../lib/wait.ts'
import { createWatchers } from '../lib/watchers.ts'
import type { Atomic, DenoKv, Key } from './kv-database.ts'

/** How long to keep the names of changed keys, and how far the clocks of two writers may differ before a watcher reports all keys, in ms. */
const LOG_MS = 300_000
const SKEW_MS = 10_000
const PAUSE_MS = 100
/** How long a watcher waits for a response before it restarts, in ms. */
const WATCH_TIMEOUT_MS = 5_000

/**
 * The log of a store's changes, and the watchers that read it. Each write increments the write count and stores the name of the key it changes.
 * Changes that the database doesn't announce are found within `pollMs`.
 */
export class KvChangeLog {
  readonly watchers = createWatchers(() => this.#follow())
  readonly #kv: DenoKv
  readonly #prefix: string
  readonly #pollMs: number
  /** The key that stores the number of writes. */
  readonly #counterKey: Key
  /** The latest write that a read or a watcher has seen. */
  #position: WritePosition | undefined

  constructor(kv: DenoKv, prefix: string, pollMs: number) {
    this.#kv = kv
    this.#prefix = prefix
    this.#pollMs = pollMs
    this.#counterKey = [prefix, 'writes']
  }

  /** Adds a key name to the write that changes it. */
  append(write: Atomic, key: string): void {
    const name = [this.#prefix, 'log', Date.now(), crypto.randomUUID()]
    write.set(name, key, { expireIn: LOG_MS }).sum(this.#counterKey, 1n)
  }

  /** Called before a read, so watchers added later report the changes since that read. */
  async updatePosition(): Promise<void> {
    if (this.watchers.size > 0 && this.#position) return
    const now = await this.#readLastWrite()
    if (this.watchers.size === 0 || !this.#position) this.#position = now
  }

  /** Reports changes as they are announced, and polls for other changes, until the returned function is called. */
  #follow(): () => void {
    let reader: ReadableStreamDefaultReader<unknown> | undefined
    let change: Promise<{ done: boolean }> | undefined
    let hasEnded = false

    const check = async () => {
      reader ??= this.#kv.watch([this.#counterKey]).getReader()
      change ??= reader.read()
      await withTimeout(this.#reportWrites(), WATCH_TIMEOUT_MS)
      const news = await withTimeout(change, this.#pollMs, () => undefined)
      if (news?.done) throw new Error('the database ended its change stream')
      if (news) change = undefined
    }

    function end(): void {
      change?.catch(() => {})
      reader?.cancel().catch(() => {})
      reader = change = undefined
    }

    async function run(): Promise<void> {
      while (!hasEnded) {
        await check().catch(async () => {
          end() // the next check finds changes that are missed in the meantime
          await sleep(PAUSE_MS)
        })
      }
    }

    void run()
    return () => {
      hasEnded = true
      end()
    }
  }

  /** Reports every write since the last write that was seen. */
  async #reportWrites(): Promise<void> {
    const from = this.#position
    const now = await this.#readLastWrite()
    this.#position ??= now
    if (!from || now.version <= from.version) return
    let names = await this.#listChanged(from, now, Date.now() - this.#pollMs - SKEW_MS)
    if (names.length < now.count - from.count) names = await this.#listChanged(from, now, 0)
    if (names.length < now.count - from.count) this.watchers.reportGap()
    this.#position = now
    for (const name of new Set(names)) this.watchers.notify(name)
  }

  async #listChanged(from: WritePosition, to: WritePosition, startMs: number): Promise<string[]> {
    const names: string[] = []
    const range = { start: [this.#prefix, 'log', startMs], end: [this.#prefix, 'log', Number.POSITIVE_INFINITY] }
    for await (const { value, versionstamp } of this.#kv.list(range, { batchSize: 500 }))
      if (versionstamp && versionstamp > from.version && versionstamp <= to.version) names.push(String(value))
    return names
  }

  async #readLastWrite(): Promise<WritePosition> {
    const { value, versionstamp } = await this.#kv.get(this.#counterKey)
    return { count: readCount(value), version: versionstamp ?? '' }
  }
}

/** A write: the number of writes up to it, and its version, which increases with each write. */
interface WritePosition {
  count: number
  version: string
}

/** Returns the number in a `Deno.KvU64`. */
function readCount(value: unknown): number {
  return typeof value === 'object' && value !== null && 'value' in value ? Number(value.value) : 0
}
