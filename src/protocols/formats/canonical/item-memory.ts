import { isObject, type JsonObject, tryParseJson } from '../../../lib/json.ts'

/**
 * Response items that this gateway wrote, for clients that refer to them only by ID (`item_reference` in OpenAI Responses). They are stored in
 * process memory, per owner. The oldest are evicted first.
 */
export interface ItemMemory {
  /** Stores an item's JSON under its ID. */
  store(owner: string, id: string, json: string): void
  /** Records who owns the items that a provider stores. */
  recordOwner(owner: string, ids: readonly string[]): void
  /** Returns whether the item is known to belong to someone else. */
  belongsToOtherOwner(owner: string, id: string): boolean
  has(owner: string, id: string): boolean
  /** Finds the item as the client received it. Returns `undefined` if it was never stored or has been evicted. */
  find(owner: string, id: string): JsonObject | undefined
}

const MAX_ITEMS = 10_000
const MAX_OWNED_IDS = 50_000
const MAX_CHARACTERS = 16 * 1024 * 1024
const MAX_ID_LENGTH = 200
const MAX_ITEM_CHARACTERS = 1024 * 1024

export function createItemMemory(): ItemMemory {
  const items = new Map<string, string>()
  const owners = new Map<string, string>()
  let totalCharacters = 0

  function recordOwner(owner: string, ids: readonly string[]) {
    for (const id of ids) {
      if (id.length > MAX_ID_LENGTH) continue
      owners.delete(id)
      owners.set(id, owner)
    }
    for (const oldestId of owners.keys()) {
      if (owners.size <= MAX_OWNED_IDS) break
      owners.delete(oldestId)
    }
  }

  function evict(key: string) {
    totalCharacters -= getSize(key, items.get(key))
    items.delete(key)
  }

  return {
    store(owner, id, json) {
      recordOwner(owner, [id])
      const key = toKey(owner, id)
      if (getSize(key, json) > MAX_ITEM_CHARACTERS) return
      if (items.has(key)) evict(key)
      items.set(key, json)
      totalCharacters += getSize(key, json)
      for (const oldestKey of items.keys()) {
        if (items.size <= MAX_ITEMS && totalCharacters <= MAX_CHARACTERS) break
        evict(oldestKey)
      }
    },
    recordOwner,
    belongsToOtherOwner: (owner, id) => (owners.get(id) ?? owner) !== owner,
    has: (owner, id) => items.has(toKey(owner, id)),
    find(owner, id) {
      const item = tryParseJson(items.get(toKey(owner, id)) ?? '')
      return isObject(item) ? item : undefined
    },
  }
}

const toKey = (owner: string, id: string) => `${owner} ${id}`

const getSize = (key: string, json = '') => key.length + json.length
