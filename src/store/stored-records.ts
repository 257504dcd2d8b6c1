import { gatewayError } from '../errors.ts'
import { isObject, tryParseJson } from '../lib/json.ts'
import type { Storage, Stored } from '../types.ts'
import { storageFailure } from './failure.ts'

/** A record as it is stored, with its place in the order of creation. */
export interface Envelope<T> {
  order: number
  record: T
}

/** The same with its id, and the version in which it was read or written. */
export interface Entry<T> extends Envelope<T> {
  id: string
  version: string
}

/** The records of one kind in the storage. Its methods reject with `STORAGE_FAILED`. */
export interface StoredRecords<T> {
  keyOf(id: string): string
  read(key: string): Promise<(Stored & Envelope<T>) | undefined>
  /** All of them in the order of their storage keys, some at a time. */
  pages(): AsyncIterable<Entry<T>[]>
  /** All of them in the order of their creation. */
  list(): Promise<Entry<T>[]>
}

/** `prefix` ends with a slash; the id follows it, percent-encoded. `turnEnd` lets others get their turn between pages. */
export function createStoredRecords<T extends object>(
  storage: Storage,
  prefix: string,
  turnEnd?: () => Promise<void>,
): StoredRecords<T> {
  const idOf = (key: string) => {
    try {
      return decodeURIComponent(key.slice(prefix.length))
    } catch (cause) {
      throw storageFailure('read', key, cause)
    }
  }

  async function* pages() {
    for (let after: string | undefined; ; ) {
      const page = await storage.list(prefix, { limit: PAGE, ...(after && { after }) }).catch((cause: unknown) => {
        throw storageFailure('list', prefix, cause)
      })
      yield page.map(({ key, value, version }): Entry<T> => ({ id: idOf(key), version, ...opened<T>(key, value) }))
      if (page.length < PAGE) return
      after = page.at(-1)?.key
      await turnEnd?.()
    }
  }

  return {
    keyOf: (id) => prefix + encodeURIComponent(id),

    async read(key) {
      const stored = await storage.get(key).catch((cause: unknown) => {
        throw storageFailure('read', key, cause)
      })
      return stored && { ...stored, ...opened<T>(key, stored.value) }
    },

    pages,

    async list() {
      const entries: Entry<T>[] = []
      for await (const page of pages()) entries.push(...page)
      return entries.sort((a, b) => a.order - b.order)
    },
  }
}

const PAGE = 1_000

/** Parses a stored value. Throws `STORAGE_FAILED`. */
export function opened<T extends object>(key: string, text: string): Envelope<T> {
  const envelope = tryParseJson(text)
  if (isObject(envelope) && typeof envelope.order === 'number' && isObject(envelope.record)) {
    return { order: envelope.order, record: envelope.record as T } // written by record-writes.ts, through a validated operation
  }
  throw gatewayError('STORAGE_FAILED', { message: `A record of the storage cannot be read: ${key}` })
}
