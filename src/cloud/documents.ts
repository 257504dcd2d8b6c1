import { gatewayError } from '../errors.ts'
import { isObject, type JsonObject, tryParseJson } from '../lib/json.ts'
import { failedTo, retryLostRace } from '../store/storage-access.ts'
import type { Storage } from '../types.ts'

/** The proxy's own data: JSON objects in a storage. All methods reject with `STORAGE_FAILED` or `STORAGE_UNAVAILABLE`. */
export interface Documents {
  /** Also rejects when `parse` returns `undefined` for the stored object. */
  read<T>(key: string, parse: Parse<T>): Promise<{ value: T; version: string } | undefined>
  /** Resolves to `false` when another writer was faster. `ifVersion: null`: writes only if the document does not exist. */
  write(key: string, value: object, options: { ifVersion?: string | null; ttlMs?: number }): Promise<boolean>
  /** Writes the result of `change`, which is called again when another writer was faster; writes nothing when the result is `undefined`. */
  change<T extends object>(
    key: string,
    parse: Parse<T>,
    change: (current: T | undefined) => T | undefined,
  ): Promise<void>
  remove(key: string, ifVersion?: string): Promise<boolean>
  /**
   * The documents below a prefix in the order of their keys, without those for which `parse` returns `undefined`. Keys are given without the
   * prefix.
   */
  list<T>(prefix: string, parse: Parse<T>): AsyncIterable<{ key: string; value: T }>
  /** Removes every key below a prefix, after `each` has been called with it. */
  removeAll(prefix: string, each?: (key: string) => Promise<void>): Promise<void>
}

type Parse<T> = (document: JsonObject) => T | undefined

export function createDocuments(storage: Storage): Documents {
  const parsed = <T>(text: string, parse: Parse<T>) => {
    const document = tryParseJson(text)
    return isObject(document) ? parse(document) : undefined
  }

  async function read<T>(key: string, parse: Parse<T>) {
    const stored = await storage.get(key).catch(failedTo('read', key))
    if (!stored) return undefined
    const value = parsed(stored.value, parse)
    if (value === undefined)
      throw gatewayError('STORAGE_FAILED', { message: `The record ${key} of the storage is damaged.`, data: { key } })
    return { value, version: stored.version }
  }

  const write: Documents['write'] = async (key, value, options) =>
    (await storage.set(key, JSON.stringify(value), options).catch(failedTo('write', key))) !== false

  const remove: Documents['remove'] = (key, ifVersion) =>
    storage.delete(key, ifVersion === undefined ? {} : { ifVersion }).catch(failedTo('write', key))

  async function* pages(prefix: string) {
    for (let after: string | undefined; ; ) {
      const options = { limit: PAGE, ...(after !== undefined && { after }) }
      const page = await storage.list(prefix, options).catch(failedTo('list', prefix))
      yield page
      if (page.length < PAGE) return
      after = page.at(-1)?.key
    }
  }

  return {
    read,
    write,
    remove,

    change: (key, parse, change) =>
      retryLostRace(async () => {
        const found = await read(key, parse)
        const next = change(found?.value)
        return next === undefined || (await write(key, next, { ifVersion: found?.version ?? null })) ? DONE : false
      }).then(() => {}),

    async *list(prefix, parse) {
      for await (const page of pages(prefix))
        for (const entry of page) {
          const value = parsed(entry.value, parse)
          if (value !== undefined) yield { key: entry.key.slice(prefix.length), value }
        }
    },

    async removeAll(prefix, each) {
      for await (const page of pages(prefix))
        await Promise.all(
          page.map(async ({ key }) => {
            await each?.(key)
            await remove(key)
          }),
        )
    },
  }
}

const PAGE = 200
const DONE = true
