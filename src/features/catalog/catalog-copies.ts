import { encodeUtf8, toHex } from '../../lib/bytes.ts'
import { isObject, tryParseJson } from '../../lib/json.ts'
import type { Storage } from '../../types.ts'
import type { ModelLists } from './compare-models.ts'
import type { CatalogChange, CatalogGeneration } from './live-types.ts'

/** The stored state: two generations and the changes on hold. */
export interface CatalogState {
  current?: StoredGeneration
  previous?: StoredGeneration
  /** The changes to the copy in use that are on hold. */
  held: CatalogChange[]
  applied: string[]
  /** The copy that was rejected. `held` contains its suspicious changes; absent if an earlier release stored the state. */
  rejected?: { reason: string; sha256: string; held?: CatalogChange[] }
  /** The hash of a source that was rolled back, so it isn't applied again. */
  ignored?: string
}

/** A generation and the location of its data. */
export interface StoredGeneration extends CatalogGeneration {
  /** The hash of its source. */
  sourceSha256: string
  /** The number of stored values that its data is split into. */
  parts: number
}

export const KEY_PREFIX = 'catalog/'
const STATE_KEY = `${KEY_PREFIX}state`
const EMPTY_STATE: CatalogState = { held: [], applied: [] }

/** Maximum length of a part, in ASCII characters. Deno KV accepts values of up to 65,536 bytes, and adapters may add to them. */
const MAX_PART_LENGTH = 60_000

/** Creates the store for catalog copies. It splits each copy into values small enough for the storage. */
export function createCatalogCopies(storage: Storage) {
  const maxPartLength = Math.min(MAX_PART_LENGTH, Math.floor((storage.largestValueBytes ?? MAX_PART_LENGTH) * 0.9))
  const getPartKey = (sha256: string, part: number) =>
    `${KEY_PREFIX}data/${sha256.slice(0, 32)}/${String(part).padStart(4, '0')}`

  return {
    /** Resolves to the state and its version. A damaged state is treated as missing. */
    async readState(): Promise<{ state: CatalogState; version: string | null }> {
      const storedState = await storage.get(STATE_KEY)
      const value = storedState && tryParseJson(storedState.value)
      const isCatalogState = isObject(value) && Array.isArray(value.held) && Array.isArray(value.applied)
      return {
        state: isCatalogState ? (value as unknown as CatalogState) : EMPTY_STATE,
        version: storedState?.version ?? null,
      } // only `writeState` writes this value
    },

    /** Resolves to the new version, or to `false` if another instance has changed the state. */
    writeState: (state: CatalogState, ifVersion: string | null) =>
      storage.set(STATE_KEY, toAscii(JSON.stringify(state)), { ifVersion }),

    /** Resolves to a generation's models, or to `undefined` if its data is damaged. */
    async readModels({ sha256, parts }: StoredGeneration): Promise<ModelLists | undefined> {
      const values = await Promise.all(
        Array.from({ length: parts }, (_, part) => storage.get(getPartKey(sha256, part))),
      )
      const text = values.map((stored) => stored?.value ?? '').join('')
      if ((await hashText(text)) !== sha256) return undefined
      const models = tryParseJson(text)
      return isObject(models) ? (models as unknown as ModelLists) : undefined // the hash proves that this gateway wrote it
    },

    /** Writes a generation's data. */
    async writeModels(models: ModelLists): Promise<{ sha256: string; parts: number }> {
      const text = toAscii(JSON.stringify(models))
      const sha256 = await hashText(text)
      const parts = Math.max(1, Math.ceil(text.length / maxPartLength))
      for (let part = 0; part < parts; part++)
        await storage.set(getPartKey(sha256, part), text.slice(part * maxPartLength, (part + 1) * maxPartLength))
      return { sha256, parts }
    },

    /** Deletes the data of all other generations. */
    async deleteAllExcept(generations: ReadonlyArray<StoredGeneration | undefined>): Promise<void> {
      const retainedPrefixes = generations.flatMap((generation) =>
        generation ? [getPartKey(generation.sha256, 0).slice(0, -4)] : [],
      )
      for (const { key } of await storage.list(`${KEY_PREFIX}data/`))
        if (!retainedPrefixes.some((prefix) => key.startsWith(prefix))) await storage.delete(key)
    },
  }
}

export const hashText = async (text: string): Promise<string> =>
  toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', encodeUtf8(text))))

/** Escapes all non-ASCII characters, so a part has as many bytes as characters. */
const toAscii = (json: string): string =>
  json.replace(/[\u0080-\uffff]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
