import { gatewayError } from '../errors.ts'
import { isObject, type JsonObject, tryParseJson } from '../lib/json.ts'
import type { Storage, Stored } from '../types.ts'
import { CODE_VERSION } from './code-records.ts'
import type { Reader } from './readings.ts'
import { handleStorageError } from './storage-access.ts'

/** A stored record and its position in creation order. */
export interface Envelope<T> {
  order: number
  record: T
}

/** A stored record with its ID, and with the version that was read or written. */
export interface StoredEntry<T> extends Envelope<T> {
  id: string
  version: string
  /** The stored JSON, if it differs from what was read. */
  stored?: JsonObject
}

/** The records of one type in the storage. Methods reject with `STORAGE_FAILED` if the storage can't be read. */
export interface StoredRecords<T> {
  getKey(id: string): string
  /** Reads a record. Resolves to `undefined` if there is none, or to `'damaged'` if it is unusable. */
  read(id: string): Promise<StoredEntry<T> | 'damaged' | undefined>
  /** Reads all usable records in pages, in storage key order. */
  pages(): AsyncIterable<StoredEntry<T>[]>
  /** Reads all usable records in creation order. */
  list(): Promise<StoredEntry<T>[]>
  /** Returns the entry for a record that was just written. */
  toEntry(id: string, envelope: Envelope<T>, version: string): StoredEntry<T>
}

export interface RecordKind<T> {
  /** The prefix of the records' storage keys. It ends with a slash, and the percent-encoded ID follows. */
  prefix: string
  read: Reader<T>
}

/** Creates access to stored records. `nextTurn` yields to other work between pages. `damage` receives each record's problem. */
export function createStoredRecords<T extends object>(
  storage: Storage,
  { prefix, read }: RecordKind<T>,
  { nextTurn, damage }: { nextTurn?: () => Promise<void>; damage?: DamageLog } = {},
): StoredRecords<T> {
  const getKey = (id: string) => prefix + encodeURIComponent(id)

  function toStoredEntry(key: string, { value, version }: Stored): StoredEntry<T> | undefined {
    const { entry, problem } = parseRecord(key, value, { prefix, read })
    const isFromCode = version === CODE_VERSION
    damage?.report(key, isFromCode ? undefined : problem) // records defined in code were checked at startup and have no signature
    if (entry && !isFromCode) Reflect.deleteProperty(entry.record, 'source') // only records defined in code can have `source`
    return entry && { ...entry, version }
  }

  async function* pages() {
    const seenKeys = new Set<string>()
    for (let after: string | undefined; ; ) {
      const page = await storage
        .list(prefix, { limit: PAGE_SIZE, ...(after && { after }) })
        .catch(handleStorageError('list', prefix))
      if (damage) for (const { key } of page) seenKeys.add(key)
      yield page.flatMap((stored) => toStoredEntry(stored.key, stored) ?? [])
      if (page.length < PAGE_SIZE) break
      after = page.at(-1)?.key
      await nextTurn?.()
    }
    damage?.reportAll(prefix, seenKeys)
  }

  return {
    getKey,
    pages,

    async read(id) {
      const key = getKey(id)
      const stored = await storage.get(key).catch(handleStorageError('read', key))
      if (stored) return toStoredEntry(key, stored) ?? 'damaged'
      damage?.report(key, undefined)
      return undefined
    },

    async list() {
      const entries: StoredEntry<T>[] = []
      for await (const page of pages()) entries.push(...page)
      return entries.sort((a, b) => a.order - b.order)
    },

    toEntry(id, envelope, version) {
      const { entry } = parseRecord(getKey(id), JSON.stringify(envelope), { prefix, read }) // parsed from a copy, because the caller may change its object
      return { ...envelope, id, ...entry, version }
    },
  }
}

/** The number of records per list page. */
export const PAGE_SIZE = 1_000

/** The result of parsing. It has no entry if the record is skipped, and no problem if the record is valid. */
interface ParsedRecord<T> {
  entry?: Omit<StoredEntry<T>, 'version'>
  /** The problem, as a predicate about the record. */
  problem?: string
}

/** Parses the text that is stored under a key. */
export function parseRecord<T>(key: string, text: string, { prefix, read }: RecordKind<T>): ParsedRecord<T> {
  const id = decodeId(key.slice(prefix.length))
  if (id === undefined) return createSkipProblem('is stored under an unknown key')
  const envelope = tryParseJson(text)
  if (!isObject(envelope) || !isObject(envelope.record))
    return createSkipProblem('is not a JSON object with a "record"')
  const readResult = read(envelope.record, id)
  if (typeof readResult === 'string') return createSkipProblem(readResult)
  const { record, problems } = readResult
  const order = typeof envelope.order === 'number' && Number.isFinite(envelope.order) ? envelope.order : 0
  if (order !== envelope.order) problems.push('"order" is not a number and is read as 0')
  if (problems.length === 0) return { entry: { id, order, record } }
  return { entry: { id, order, record, stored: envelope.record }, problem: `is damaged: ${problems.join('; ')}` }
}

const createSkipProblem = (reason: string) => ({ problem: `${reason}, so it is skipped` })

/** Decodes the ID in a storage key. Returns `undefined` if it is invalid. */
export function decodeId(encoded: string): string | undefined {
  try {
    return decodeURIComponent(encoded)
  } catch {
    return undefined
  }
}

/** A damaged record in the storage. */
export interface DamagedRecord {
  /** The record's storage key. */
  key: string
  /** Describes the problem, and whether the record is skipped or how it is read. */
  problem: string
}

/** The known damaged records. */
export interface DamageLog {
  /** Sets a record's problem, or clears it with `undefined` if the record is valid or was removed. A new problem is passed to `onError`. */
  report(key: string, problem: string | undefined): void
  /** Removes the problems of records with this prefix that no longer exist; `keys` are the existing ones. */
  reportAll(prefix: string, keys: ReadonlySet<string>): void
  has(key: string): boolean
  /** Lists the damaged records, sorted by key. */
  list(): DamagedRecord[]
}

export function createDamageLog(onError: (error: unknown) => void): DamageLog {
  const problems = new Map<string, string>()
  return {
    report(key, problem) {
      if (problem === undefined) problems.delete(key)
      else if (problems.get(key) !== problem) {
        problems.set(key, problem)
        onError(gatewayError('RECORD_DAMAGED', { message: `The stored record ${key} ${problem}.`, data: { key } }))
      }
    },
    reportAll(prefix, keys) {
      for (const key of problems.keys()) if (key.startsWith(prefix) && !keys.has(key)) problems.delete(key)
    },
    has: (key) => problems.has(key),
    list: () => [...problems].map(([key, problem]) => ({ key, problem })).sort((a, b) => (a.key < b.key ? -1 : 1)),
  }
}
