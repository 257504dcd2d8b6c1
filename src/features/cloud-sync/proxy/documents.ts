import { gatewayError } from '../../../errors.ts'
import { isObject, type JsonObject, tryParseJson } from '../../../lib/json.ts'
import { handleStorageError, retryOnConflict } from '../../../records/storage-access.ts'
import type { Storage } from '../../../types.ts'

/** The proxy's own data, stored as JSON objects. All methods reject with `STORAGE_FAILED` or `STORAGE_UNAVAILABLE`. */
export interface Documents {
  /** Reads a document. Also rejects if `parse` returns `undefined`. */
  read<T>(key: string, parse: Parse<T>): Promise<{ value: T; version: string } | undefined>
  /** Resolves to `false` if another write came first. With `ifVersion: null`, writes only if the document doesn't exist. */
  write(key: string, value: object, options: { ifVersion?: string | null; ttlMs?: number }): Promise<boolean>
  /** Writes the result of `change`, unless it is `undefined`. Calls `change` again if another write came first. */
  update<T extends object>(
    key: string,
    parse: Parse<T>,
    transform: (current: T | undefined) => T | undefined,
  ): Promise<void>
  remove(key: string, ifVersion?: string): Promise<boolean>
  /** Lists the documents below a prefix, sorted by key, with the prefix removed. Skips documents for which `parse` returns `undefined`. */
  list<T>(prefix: string, parse: Parse<T>): AsyncIterable<{ key: string; value: T }>
  /** Removes all keys below a prefix. Calls `beforeRemove` with a key before removing it. */
  removeAll(prefix: string, beforeRemove?: (key: string) => Promise<void>): Promise<void>
}

type Parse<T> = (document: JsonObject) => T | undefined

export function createDocuments(storage: Storage): Documents {
  const parseDocument = <T>(text: string, parse: Parse<T>) => {
    const document = tryParseJson(text)
    return isObject(document) ? parse(document) : undefined
  }

  async function read<T>(key: string, parse: Parse<T>) {
    const stored = await storage.get(key).catch(handleStorageError('read', key))
    if (!stored) return undefined
    const value = parseDocument(stored.value, parse)
    if (value === undefined)
      throw gatewayError('STORAGE_FAILED', { message: `The stored record ${key} is damaged.`, data: { key } })
    return { value, version: stored.version }
  }

  const write: Documents['write'] = async (key, value, options) =>
    (await storage.set(key, JSON.stringify(value), options).catch(handleStorageError('write', key))) !== false

  const remove: Documents['remove'] = (key, ifVersion) =>
    storage.delete(key, ifVersion === undefined ? {} : { ifVersion }).catch(handleStorageError('write', key))

  async function* listPages(prefix: string) {
    for (let after: string | undefined; ; ) {
      const options = { limit: PAGE_SIZE, ...(after !== undefined && { after }) }
      const page = await storage.list(prefix, options).catch(handleStorageError('list', prefix))
      yield page
      if (page.length < PAGE_SIZE) return
      after = page.at(-1)?.key
    }
  }

  return {
    read,
    write,
    remove,

    update: (key, parse, change) =>
      retryOnConflict(async () => {
        const storedDocument = await read(key, parse)
        const nextValue = change(storedDocument?.value)
        return nextValue === undefined || (await write(key, nextValue, { ifVersion: storedDocument?.version ?? null }))
          ? DONE
          : false
      }).then(() => {}),

    async *list(prefix, parse) {
      for await (const page of listPages(prefix))
        for (const entry of page) {
          const value = parseDocument(entry.value, parse)
          if (value !== undefined) yield { key: entry.key.slice(prefix.length), value }
        }
    },

    async removeAll(prefix, beforeRemove) {
      for await (const page of listPages(prefix))
        await Promise.all(
          page.map(async ({ key }) => {
            await beforeRemove?.(key)
            await remove(key)
          }),
        )
    },
  }
}

const PAGE_SIZE = 200
const DONE = true
