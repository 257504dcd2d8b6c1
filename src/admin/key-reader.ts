import { decryptKey, UNREADABLE_KEY } from '../records/keyring.ts'
import type { WritableStore } from '../records/writable-store.ts'
import { keyFields } from '../types/records/key-fields.ts'
import type { Clock } from '../types.ts'
import { parseInput } from './input.ts'
import { findPage, hideValue, type KeyHintsQuery, type KeysQuery, keyViews, type MaskedKey } from './key-listing.ts'
import { type FoundKey, UNSIGNED_KEY } from './key-writer.ts'
import type { KeyView } from './keys.ts'
import { pickOutputFields } from './record-operations.ts'

interface KeyReaderDependencies {
  store: WritableStore
  clock: Clock
  nextTurn(): Promise<void>
  /** Returns the ref of the account with this ID or ref. */
  findAccountRef(idOrRef: string): Promise<string>
  /** Finds a key by its ID. Throws `NOT_FOUND`. */
  find(id: string): Promise<FoundKey>
}

/** Creates the functions that return keys as the API shows them. */
export function createKeyReader({ store, clock, nextTurn, findAccountRef, find }: KeyReaderDependencies) {
  /** Doesn't throw for a key that can't be decrypted or was changed elsewhere, so other keys can be listed. */
  async function showKey({ digest, record }: FoundKey): Promise<KeyView> {
    const keyPrefix = record.sha256 === undefined ? decryptKey(await store.keyring(), record) : ''
    const [key, isSigned] = await Promise.all([keyPrefix, store.isSignedKey(digest, record)])
    const error = isSigned ? (key === undefined ? UNREADABLE_KEY : undefined) : UNSIGNED_KEY
    const isActive = record.isActive !== false
    return {
      ...pickOutputFields(keyFields, { ...record, key: key ?? '', isActive }),
      ...(error !== undefined && { error }),
    }
  }

  function list(): Promise<{ keys: KeyView[] }>
  function list(query: KeysQuery & KeyHintsQuery): Promise<{ keys: MaskedKey[]; after?: string }>
  function list(query: unknown): Promise<{ keys: (KeyView | MaskedKey)[]; after?: string }>
  async function list(query: unknown = {}) {
    const { values, ...filters } = parseInput(keyViews.list, query)
    const isHidden = values === 'none' || (!values && (await store.settings.read()).showKeyValues === false)
    if (filters.account !== undefined) filters.account = await findAccountRef(filters.account)
    const entries = [...(await store.keys.entries())] // copied, because writes mutate the list
    const { page, ...next } = await findPage(entries, filters, { now: clock.now(), nextTurn })
    const keys: (KeyView | MaskedKey)[] = []
    for (let index = 0; index < page.length; index += BATCH_SIZE) {
      const batch = await Promise.all(
        page.slice(index, index + BATCH_SIZE).map(({ id, record }) => showKey({ digest: id, record })),
      )
      keys.push(...(isHidden ? batch.map(hideValue) : batch))
      await nextTurn()
    }
    return { keys, ...next }
  }

  function get(id: string): Promise<{ key: KeyView }>
  function get(id: string, view: KeyHintsQuery): Promise<{ key: MaskedKey }>
  function get(id: string, view: unknown): Promise<{ key: KeyView | MaskedKey }>
  async function get(id: string, view: unknown = {}) {
    const { values } = parseInput(keyViews.get, view)
    const key = await showKey(await find(id))
    return { key: values === 'none' ? hideValue(key) : key }
  }

  return { showKey, list, get }
}

/** Keys to decrypt before yielding to other requests; a batch takes a fraction of a millisecond. */
const BATCH_SIZE = 32
