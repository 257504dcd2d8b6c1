import { gatewayError } from '../errors.ts'
import { isObject, type JsonObject, tryParseJson } from '../lib/json.ts'
import type { Storage, Stored } from '../types.ts'
import type { Reader } from './readings.ts'
import { failedTo } from './storage-access.ts'

/** A record as it is stored, with its place in the order of creation. */
export interface Envelope<T> {
  order: number
  record: T
}

/** A stored record with its id, and the version in which it was read or written. */
export interface StoredEntry<T> extends Envelope<T> {
  id: string
  version: string
  /** The stored record, if it is read differently from how it is stored. */
  stored?: JsonObject
}

/** The records of one kind in the storage. Its methods reject with `STORAGE_FAILED` when the storage cannot be read. */
export interface StoredRecords<T> {
  keyOf(id: string): string
  /** `undefined` when there is none, `'damaged'` when there is one that cannot be used. */
  read(id: string): Promise<StoredEntry<T> | 'damaged' | undefined>
  /** All that can be used in the order of their storage keys, some at a time. */
  pages(): AsyncIterable<StoredEntry<T>[]>
  /** All that can be used in the order of their creation. */
  list(): Promise<StoredEntry<T>[]>
  /** The entry of what was just written. */
  written(id: string, envelope: Envelope<T>, version: string): StoredEntry<T>
}

/** How one kind of records is stored and read. */
export interface RecordKind<T> {
  /** Of their storage keys; ends with a slash, and the id follows it, percent-encoded. */
  prefix: string
  read: Reader<T>
}

/** `turnEnd` lets others get their turn between pages; `damage` records whether each record can be read as it stands. */
export function createStoredRecords<T extends object>(
  storage: Storage,
  { prefix, read }: RecordKind<T>,
  { turnEnd, damage }: { turnEnd?: () => Promise<void>; damage?: DamageLog } = {},
): StoredRecords<T> {
  const keyOf = (id: string) => prefix + encodeURIComponent(id)

  function entryOf(key: string, { value, version }: Stored): StoredEntry<T> | undefined {
    const { entry, problem } = openRecord(key, value, { prefix, read })
    damage?.saw(key, problem)
    return entry && { ...entry, version }
  }

  async function* pages() {
    const seen = new Set<string>()
    for (let after: string | undefined; ; ) {
      const page = await storage.list(prefix, { limit: PAGE, ...(after && { after }) }).catch(failedTo('list', prefix))
      if (damage) for (const { key } of page) seen.add(key)
      yield page.flatMap((stored) => entryOf(stored.key, stored) ?? [])
      if (page.length < PAGE) break
      after = page.at(-1)?.key
      await turnEnd?.()
    }
    damage?.sawAll(prefix, seen)
  }

  return {
    keyOf,
    pages,

    async read(id) {
      const key = keyOf(id)
      const stored = await storage.get(key).catch(failedTo('read', key))
      if (stored) return entryOf(key, stored) ?? 'damaged'
      damage?.saw(key, undefined)
      return undefined
    },

    async list() {
      const entries: StoredEntry<T>[] = []
      for await (const page of pages()) entries.push(...page)
      return entries.sort((a, b) => a.order - b.order)
    },

    written(id, envelope, version) {
      const { entry } = openRecord(keyOf(id), JSON.stringify(envelope), { prefix, read }) // parsed anew: the caller may change its object
      return { ...envelope, id, ...entry, version }
    },
  }
}

const PAGE = 1_000

/** What a stored text is read as: no entry when it is passed over, and no problem when it is good. */
interface OpenedRecord<T> {
  entry?: Omit<StoredEntry<T>, 'version'>
  /** The predicate of a sentence whose subject is the record. */
  problem?: string
}

/** Reads the text that is stored under a key. */
export function openRecord<T>(key: string, text: string, { prefix, read }: RecordKind<T>): OpenedRecord<T> {
  const id = idOf(key.slice(prefix.length))
  if (id === undefined) return passedOver('lies under a key that no release writes')
  const envelope = tryParseJson(text)
  if (!isObject(envelope) || !isObject(envelope.record)) return passedOver('is no JSON object with a "record"')
  const reading = read(envelope.record, id)
  if (typeof reading === 'string') return passedOver(reading)
  const { record, problems } = reading
  const order = typeof envelope.order === 'number' && Number.isFinite(envelope.order) ? envelope.order : 0
  if (order !== envelope.order) problems.push('"order" is no number and is read as 0')
  if (problems.length === 0) return { entry: { id, order, record } }
  return { entry: { id, order, record, stored: envelope.record }, problem: `is damaged: ${problems.join('; ')}` }
}

const passedOver = (why: string) => ({ problem: `${why}, and is passed over` })

/** The id in the rest of a storage key; `undefined` when no release writes such a key. */
export function idOf(encoded: string): string | undefined {
  try {
    return decodeURIComponent(encoded)
  } catch {
    return undefined
  }
}

/** A record of the storage that cannot be read as it stands. */
export interface DamagedRecord {
  /** Its storage key. */
  key: string
  /** What is wrong with the record, and how it is read, or that it is passed over. */
  problem: string
}

/** The damaged records that are known. */
export interface DamageLog {
  /** Records the problem of a record, `undefined` when it is good or gone. A new problem goes to `onError`. */
  saw(key: string, problem: string | undefined): void
  /** Records that these are all the keys below a prefix: the problems of other records there are forgotten. */
  sawAll(prefix: string, keys: ReadonlySet<string>): void
  has(key: string): boolean
  /** In the order of their keys. */
  list(): DamagedRecord[]
}

export function createDamageLog(onError: (error: unknown) => void): DamageLog {
  const problems = new Map<string, string>()
  return {
    saw(key, problem) {
      if (problem === undefined) problems.delete(key)
      else if (problems.get(key) !== problem) {
        problems.set(key, problem)
        onError(
          gatewayError('RECORD_DAMAGED', { message: `The record ${key} of the storage ${problem}.`, data: { key } }),
        )
      }
    },
    sawAll(prefix, keys) {
      for (const key of problems.keys()) if (key.startsWith(prefix) && !keys.has(key)) problems.delete(key)
    },
    has: (key) => problems.has(key),
    list: () => [...problems].map(([key, problem]) => ({ key, problem })).sort((a, b) => (a.key < b.key ? -1 : 1)),
  }
}
