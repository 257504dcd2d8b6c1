import type { Storage, Stored } from '../../src/index.ts'
import { checkOptions } from '../lib/check-options.ts'
import { fromOrdered, getUpperBound, toOrdered } from './lib/ordered-text.ts'
import { incrementSum, type Row } from './lib/row-operations.ts'
import { createStorageError, type StorageErrorCode } from './lib/storage-error.ts'
import { checkWrite } from './lib/value-limits.ts'

/** A Durable Object namespace, as bound to a Worker. */
export interface DurableObjectNamespace<Id = unknown> {
  idFromName(name: string): Id
  get(id: Id): { fetch(url: string, init: { method: string; body: string }): Promise<Pick<Response, 'ok' | 'json'>> }
}

/** Options for `durableObjectStorage`. */
export interface DurableObjectStorageOptions {
  /** The name of the object that stores the data. Default: `signalbox`. */
  name?: string
}

/**
 * Stores all data in one Durable Object of the class `SignalboxStore`, which your Worker exports. Atomic for all Workers that use the same
 * object; a write resolves once Cloudflare has stored it. Errors have a `code` (`STORAGE_…`). Throws a TypeError for invalid options.
 */
export function durableObjectStorage<Id>(
  namespace: DurableObjectNamespace<Id>,
  options: DurableObjectStorageOptions = {},
): Storage {
  checkOptions(options, { name: true })
  if (typeof namespace?.idFromName !== 'function')
    throw new TypeError('durableObjectStorage takes a Durable Object namespace: durableObjectStorage(env.STORE).')
  const { name = 'signalbox' } = options
  const running = new Set<Promise<unknown>>()
  let isClosed = false

  async function sendCall<T>(call: StorageCall): Promise<T> {
    if (isClosed) throw createStorageError('STORAGE_CLOSED', `The store in the Durable Object "${name}" was closed.`)
    const objectResponse = namespace
      .get(namespace.idFromName(name)) // a new stub each time, because a failed stub keeps failing
      .fetch('https://store/', { method: 'POST', body: JSON.stringify(call) })
      .then(async (response): Promise<StorageReply> => response.json())
    const settled: Promise<unknown> = objectResponse.catch(() => {}).finally(() => running.delete(settled))
    running.add(settled)
    const answer = await objectResponse.catch((cause: unknown) => {
      throw createStorageError(
        'STORAGE_UNREACHABLE',
        `The Durable Object "${name}" is unreachable. Check that the Worker exports SignalboxStore and binds its class.`,
        cause,
      )
    })
    if (answer.error) throw createStorageError(answer.error.code, answer.error.message)
    return (answer.result ?? undefined) as T // `SignalboxStore` returns the operation's result type
  }

  return {
    atomic: true,
    largestValueBytes: LIMITS.largestValueBytes,
    longestKeyBytes: LIMITS.longestKeyBytes,
    get: (key) => sendCall({ operation: 'get', key }),
    async getLinked(key) {
      const found = await sendCall<unknown>({ operation: 'get', key, isLinked: true })
      return Array.isArray(found) ? found : [] // during a deployment, the object may run an earlier release
    },
    async set(key, value, options = {}) {
      checkWrite(toOrdered(key), value, options.ttlMs, LIMITS)
      return sendCall({ operation: 'set', key, value, version: crypto.randomUUID(), ...options })
    },
    delete: (key, options = {}) => sendCall({ operation: 'delete', key, ...options }),
    list: (prefix, options = {}) => sendCall({ operation: 'list', prefix, ...options }),
    async increment(key, by, options = {}) {
      checkWrite(toOrdered(key), '', options.ttlMs, LIMITS)
      return sendCall({ operation: 'increment', key, by: String(by), version: crypto.randomUUID(), ...options })
    },
    async close() {
      await Promise.all(running)
      isClosed = true
    },
  }
}

type StorageCall =
  | { operation: 'get'; key: string; isLinked?: true }
  | { operation: 'set'; key: string; value: string; version: string; ifVersion?: string | null; ttlMs?: number }
  | { operation: 'delete'; key: string; ifVersion?: string }
  | { operation: 'list'; prefix: string; after?: string; limit?: number }
  | { operation: 'increment'; key: string; by: string; version: string; ttlMs?: number }

interface StorageReply {
  result?: unknown
  error?: { code: StorageErrorCode; message: string }
}

const LIMITS = { store: 'A Durable Object', largestValueBytes: 1_900_000, longestKeyBytes: 1_024 }

/** The methods of the object's own storage that the adapter uses. */
interface ObjectStorage {
  get(key: string): Promise<unknown>
  put(key: string, value: unknown): Promise<void>
  delete(keys: string[]): Promise<number>
  list(options: { start: string; startAfter?: string; end: string; limit: number }): Promise<Map<string, unknown>>
  getAlarm(): Promise<number | null>
  setAlarm(time: number): Promise<void>
}

/**
 * The class of the Durable Object behind `durableObjectStorage`: export it from your Worker, bind it, and list it in `new_sqlite_classes`. Calls
 * run one at a time, so nothing runs between a call's read and its write.
 */
export class SignalboxStore {
  readonly #storage: ObjectStorage

  constructor(state: { storage: object }) {
    this.#storage = state.storage as ObjectStorage // the platform always passes a storage with these methods
  }

  async fetch(request: Request): Promise<Response> {
    try {
      const call: StorageCall = await request.json()
      return Response.json({ result: await this.#run(call) })
    } catch (error) {
      if (!(error instanceof Error && 'code' in error)) throw error
      return Response.json({ error: { code: error.code, message: error.message } })
    }
  }

  /** Removes expired entries. */
  async alarm(): Promise<void> {
    const now = Date.now()
    const dueEntries = await this.#storage.list({
      start: EXPIRY_PREFIX,
      end: getExpiryPrefix(now + 1),
      limit: PAGE_SIZE,
    })
    for (const [name, key] of dueEntries) {
      const row = await this.#storage.get(ROW_PREFIX + key)
      const isExpired = isRow(row) && row.expiresAt !== undefined && row.expiresAt <= now
      await this.#storage.delete(isExpired ? [name, ROW_PREFIX + key] : [name])
    }
    const [next] = (
      await this.#storage.list({ start: EXPIRY_PREFIX, end: getUpperBound(EXPIRY_PREFIX), limit: 1 })
    ).keys()
    if (next !== undefined)
      await this.#storage.setAlarm(Number(next.slice(EXPIRY_PREFIX.length, EXPIRY_PREFIX.length + TIME_DIGITS)))
  }

  async #run(call: StorageCall): Promise<unknown> {
    if (call.operation === 'list') return this.#list(call)
    const key = toOrdered(call.key)
    const row = await this.#live(key)
    if (call.operation === 'get') return call.isLinked ? this.#getLinked(call.key, row) : row && toStored(row)
    if (call.operation === 'increment') {
      const value = String(incrementSum(call.key, row, Number(call.by)))
      const expiresAt = row ? row.expiresAt : getTimeAfter(call.ttlMs)
      await this.#put(key, { value, version: call.version, ...(expiresAt !== undefined && { expiresAt }) })
      return Number(value)
    }
    const { ifVersion } = call
    if (ifVersion !== undefined && (row?.version ?? null) !== ifVersion) return false
    if (call.operation === 'delete') return row !== undefined && (await this.#storage.delete([ROW_PREFIX + key])) > 0
    const expiresAt = getTimeAfter(call.ttlMs)
    await this.#put(key, { value: call.value, version: call.version, ...(expiresAt !== undefined && { expiresAt }) })
    return call.version
  }

  async #getLinked(key: string, row: Row | undefined): Promise<Array<Stored & { key: string }>> {
    if (!row) return []
    const linked = await Promise.all(
      row.value.split('\n', MAX_LINKS).map(async (link) => ({ key: link, row: await this.#live(toOrdered(link)) })),
    )
    return [{ key, row }, ...linked].flatMap(({ key, row }) => (row ? { key, ...toStored(row) } : []))
  }

  async #live(key: string): Promise<Row | undefined> {
    const row = await this.#storage.get(ROW_PREFIX + key)
    return isRow(row) && !(row.expiresAt !== undefined && row.expiresAt <= Date.now()) ? row : undefined
  }

  async #put(key: string, row: Row): Promise<void> {
    await this.#storage.put(ROW_PREFIX + key, row)
    if (row.expiresAt === undefined) return
    await this.#storage.put(getExpiryPrefix(row.expiresAt) + key, key)
    const alarm = await this.#storage.getAlarm()
    if (alarm === null || alarm > row.expiresAt) await this.#storage.setAlarm(row.expiresAt)
  }

  async #list({ prefix, after, limit = Number.POSITIVE_INFINITY }: Extract<StorageCall, { operation: 'list' }>) {
    const records: Array<{ key: string; value: string; version: string }> = []
    const start = ROW_PREFIX + toOrdered(prefix)
    let last = after === undefined ? undefined : ROW_PREFIX + toOrdered(after)
    if (last !== undefined && last < start) last = undefined
    while (records.length < limit) {
      const range = last === undefined ? { start } : { startAfter: last }
      // exactly one of `start` and `startAfter` is set
      const page = await this.#storage.list({
        ...(range as { start: string }),
        end: getUpperBound(start),
        limit: PAGE_SIZE,
      })
      for (const [name, row] of page) {
        last = name
        const isLive = isRow(row) && !(row.expiresAt !== undefined && row.expiresAt <= Date.now())
        if (isLive && records.length < limit)
          records.push({ key: fromOrdered(name.slice(ROW_PREFIX.length)), value: row.value, version: row.version })
      }
      if (page.size < PAGE_SIZE) break
    }
    return records
  }
}

const ROW_PREFIX = 'row/'
/** The key prefix of the index of expiring entries, ordered by expiry time. */
const EXPIRY_PREFIX = 'expiry/'
const TIME_DIGITS = 15
const PAGE_SIZE = 500

const getExpiryPrefix = (time: number) => `${EXPIRY_PREFIX}${String(Math.ceil(time)).padStart(TIME_DIGITS, '0')}/`

const getTimeAfter = (ttlMs: number | undefined) => (ttlMs === undefined ? undefined : Date.now() + ttlMs)

const toStored = ({ value, version }: Row): Stored => ({ value, version })

const MAX_LINKS = 32

const isRow = (row: unknown): row is Row =>
  typeof row === 'object' && row !== null && 'value' in row && typeof row.value === 'string' && 'version' in row
