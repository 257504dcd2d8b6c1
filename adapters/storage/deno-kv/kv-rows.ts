import type { Clock, Stored } from '../../../src/index.ts'
import { fromOrdered, getUpperBound, toOrdered } from '../lib/ordered-text.ts'
import { describeForeignRow } from '../lib/row-operations.ts'
import { createStorageError } from '../lib/storage-error.ts'
import { sleep } from '../lib/wait.ts'
import type { KvChangeLog } from './kv-change-log.ts'
import type { DenoKv, Entry, Key } from './kv-database.ts'

/** How long to retry a write that conflicts with other writers, in ms. */
const RETRY_MS = 4_000
/** How long Deno KV keeps entries after they expire, in ms, so `clock` determines what has expired even if Deno KV's own clock is ahead. */
const EXPIRY_MARGIN_MS = 60_000

/** The row that a write stores. */
interface NewRow {
  value: string
  expiresAt?: number
}

type KvRow = NewRow & Stored

/** Dependencies of a store's rows. `store` is the store's name, which messages start with. */
interface KvRowsOptions {
  prefix: string
  store: string
  clock: Pick<Clock, 'now'>
  log: KvChangeLog
}

/** A store's rows in Deno KV. */
export class KvRows {
  readonly #kv: DenoKv
  readonly #options: KvRowsOptions

  constructor(kv: DenoKv, options: KvRowsOptions) {
    this.#kv = kv
    this.#options = options
  }

  async get(key: string): Promise<KvRow | undefined> {
    return this.#toRow(await this.#kv.get(this.#getKey(key)))
  }

  /** Implements `Storage.list`. */
  async list(start: string, { after, limit = Number.POSITIVE_INFINITY }: { after?: string; limit?: number } = {}) {
    const found: Array<Stored & { key: string }> = []
    const from = after !== undefined && after >= start ? `${after}\0` : start // the smallest string after `after`
    if (!from.startsWith(start) || limit < 1) return found
    const range = { start: this.#getKey(from), end: [this.#options.prefix, 'entry', getUpperBound(toOrdered(start))] }
    for await (const entry of this.#kv.list(range, { batchSize: Math.min(500, limit) })) {
      const row = this.#toRow(entry)
      if (row) found.push({ key: fromOrdered(String(entry.key[2])), value: row.value, version: row.version })
      if (found.length >= limit) break
    }
    return found
  }

  /** Writes a row unconditionally. Resolves to its version. */
  async put(key: string, row: NewRow): Promise<string> {
    return this.#retry(key, () => this.#commit(key, row))
  }

  /**
   * Writes the result of `getNext` for the current row, and retries if another write intervenes; `undefined` leaves the row unchanged. Resolves to
   * the version of the write, or to `false` if nothing was written.
   */
  async change(
    key: string,
    getNext: (row: KvRow | undefined) => NewRow | 'deleted' | undefined,
  ): Promise<string | false> {
    return this.#retry(key, async () => {
      const current = await this.#kv.get(this.#getKey(key))
      const next = getNext(this.#toRow(current))
      return next ? this.#commit(key, next, current) : false
    })
  }

  #getKey(key: string): Key {
    return [this.#options.prefix, 'entry', toOrdered(key)]
  }

  /** Converts an entry to a row. An entry from another program is read as one damaged record, which doesn't hide other records and can be replaced. */
  #toRow({ value, versionstamp }: Entry): KvRow | undefined {
    if (versionstamp === null) return undefined
    const row: NewRow = parseNewRow(value) ?? { value: describeForeignRow(value) }
    const isLive = row.expiresAt === undefined || row.expiresAt > this.#options.clock.now()
    return isLive ? { ...row, version: versionstamp } : undefined
  }

  async #retry<Result>(key: string, write: () => Promise<Result | undefined>): Promise<Result> {
    for (const until = performance.now() + RETRY_MS; ; await sleep(Math.random() * 20)) {
      const result = await write()
      if (result !== undefined) return result
      if (performance.now() > until)
        throw createStorageError(
          'STORAGE_LOCKED',
          `${this.#options.store} has too many concurrent writes to "${key.slice(0, 100)}". Try again.`,
        )
    }
  }

  /** Commits a write, together with its key name for watchers. Returns `undefined` if another write intervened. */
  async #commit(key: string, next: NewRow | 'deleted', current?: Entry): Promise<string | undefined> {
    const { clock, log } = this.#options
    const name = this.#getKey(key)
    const write = this.#kv.atomic()
    if (current) write.check({ key: name, versionstamp: current.versionstamp })
    if (next === 'deleted') write.delete(name)
    else {
      const { value, expiresAt } = next
      const life =
        expiresAt === undefined ? {} : { expireIn: Math.max(1, Math.ceil(expiresAt - clock.now() + EXPIRY_MARGIN_MS)) }
      write.set(name, { value: new TextEncoder().encode(value), ...(expiresAt !== undefined && { expiresAt }) }, life)
    }
    log.append(write, key)
    const result = await write.commit().catch((cause: unknown) => {
      if (isLocked(cause)) return { ok: false as const }
      throw cause
    })
    return result.ok ? result.versionstamp : undefined
  }
}

/** Parses a value that this adapter has written. Returns `undefined` for any other value. */
function parseNewRow(value: unknown): NewRow | undefined {
  if (typeof value !== 'object' || value === null || !('value' in value)) return undefined
  const { value: bytes, expiresAt }: { value: unknown; expiresAt?: unknown } = value
  if (!(bytes instanceof Uint8Array)) return undefined
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
  return { value: text, ...(typeof expiresAt === 'number' && { expiresAt }) }
}

/** Returns whether the database file is locked by another process, in which case nothing was written. */
const isLocked = (cause: unknown) => cause instanceof Error && /database is locked/.test(cause.message)
