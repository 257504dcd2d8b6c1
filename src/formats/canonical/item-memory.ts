import { isObject, type JsonObject, tryParseJson } from '../../lib/json.ts'

/**
 * The items of answers that this gateway has written, for clients that refer to them by their ids alone (`item_reference` of OpenAI
 * Responses). Separate for each owner, in process memory; the oldest are evicted first.
 */
export interface ItemMemory {
  /** Remembers an item, as its JSON, under its id. */
  keep(owner: string, id: string, json: string): void
  /** Is there an item under this id? */
  has(owner: string, id: string): boolean
  /** The item as the client received it; `undefined` when it was never kept or has been evicted. */
  find(owner: string, id: string): JsonObject | undefined
}

const MAX_ITEMS = 10_000
const MAX_CHARACTERS = 16 * 1024 * 1024
const MAX_ITEM_CHARACTERS = 1024 * 1024

export function createItemMemory(): ItemMemory {
  const items = new Map<string, string>()
  let characters = 0

  function evict(key: string) {
    characters -= sizeOf(key, items.get(key))
    items.delete(key)
  }

  return {
    keep(owner, id, json) {
      const key = keyOf(owner, id)
      if (sizeOf(key, json) > MAX_ITEM_CHARACTERS) return
      if (items.has(key)) evict(key)
      items.set(key, json)
      characters += sizeOf(key, json)
      for (const oldest of items.keys()) {
        if (items.size <= MAX_ITEMS && characters <= MAX_CHARACTERS) break
        evict(oldest)
      }
    },
    has: (owner, id) => items.has(keyOf(owner, id)),
    find(owner, id) {
      const item = tryParseJson(items.get(keyOf(owner, id)) ?? '')
      return isObject(item) ? item : undefined
    },
  }
}

const keyOf = (owner: string, id: string) => `${owner} ${id}`

const sizeOf = (key: string, json = '') => key.length + json.length
