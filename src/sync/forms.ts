import { gatewayError } from '../errors.ts'
import type { JsonObject } from '../lib/json.ts'
import type { ConnectionRecord, GroupRecord, KeyRecord } from '../store/collections.ts'
import { openApiKey } from '../store/store.ts'
import { openKey, placeOfApiKey, placeOfKey } from '../store/vault.ts'
import type { WritableStore } from '../store/writable-store.ts'
import { connectionFields } from '../types/records/connections.ts'
import type { RecordFields } from '../types/records/fields.ts'
import { groupFields } from '../types/records/groups.ts'
import { keyFields } from '../types/records/keys.ts'
import { digestOfKey } from './cryptography.ts'
import type { Side } from './types.ts'

/* How the records of a store become what is mirrored of them, and how that becomes a record again. */

/** A record as it is stored. */
export interface MirroredItem {
  /** That of its state. */
  id: string
  /** The key of the record in its collection: a digest for keys, the name for combos, otherwise the id. */
  slot: string
  record: object
  version: string
}

/** A record as it is mirrored. */
export interface Content {
  /** As it is sent, but for `key`. */
  record: JsonObject
  isActive?: boolean
  /** Of the last call that set `isActive`, or `requireApiKey`; it stays on its side. */
  edit?: string
  /** The value of a client key, where it is known. */
  key?: string
}

/** The form of the records of one collection. */
export interface RecordForm {
  /** Is there an active flag, which is settled apart? */
  hasActive: boolean
  /** The mirrored content of a record. Throws an error with a message for people when it cannot be. */
  read(item: MirroredItem): Promise<Content>
  /** The id of a content. */
  idOf(record: JsonObject): string
  /** The record of a content, sealed; what is not mirrored stays as it is in the record before. */
  recordOf(content: Content, before: MirroredItem | undefined): Promise<object>
}

/** The fields of a record that are mirrored as they are. */
export const mirroredNames = (fields: RecordFields): string[] =>
  Object.entries(fields).flatMap(([name, { isStored, isShown, isMirrored }]) =>
    [isStored, isShown, isMirrored].includes(false) ? [] : [name],
  )

/** Records that are mirrored as they are. */
export function plainForm(fields: RecordFields, idOf: (record: JsonObject) => string): RecordForm {
  const names = mirroredNames(fields)
  return {
    hasActive: false,
    idOf,
    read: async ({ record }) => ({ record: picked(record, names) }),
    recordOf: async ({ record }, before) => withFields(before?.record, record, names),
  }
}

/** The fields of a record that are there. */
function picked(record: object, names: readonly string[]): JsonObject {
  const found: JsonObject = {}
  for (const name of names) {
    const value: unknown = Reflect.get(record, name)
    if (value !== undefined) found[name] = value
  }
  return found
}

/** A record with these fields as they are given, and without those that are not. */
function withFields(before: object | undefined, given: JsonObject, names: readonly string[]): JsonObject {
  const next: JsonObject = { ...before }
  for (const name of names) delete next[name]
  return { ...next, ...picked(given, names) }
}

const CONNECTION = mirroredNames(connectionFields)
const KEY = mirroredNames(keyFields)

/** Groups of keys are mirrored as they are, if a gateway with this secret wrote them. */
export function groupForm(store: Pick<WritableStore, 'isProvenGroup'>): RecordForm {
  const plain = plainForm(groupFields, ({ id }) => String(id))
  return {
    ...plain,
    async read(item) {
      if (!(await store.isProvenGroup(item.slot, item.record as GroupRecord))) throw unmirrored(UNPROVEN_GROUP) // the item is one
      return plain.read(item)
    },
  }
}

/** Connections are mirrored with their credentials, each sealed by its side for where it is sent. */
export function connectionForm({ vault }: Pick<WritableStore, 'vault'>): RecordForm {
  return {
    hasActive: true,
    idOf: ({ id }) => String(id),
    async read({ record }) {
      const connection = record as ConnectionRecord // the item is one
      const apiKey = await openApiKey({ vault }, connection)
      return {
        record: { ...picked(record, CONNECTION), ...(apiKey !== undefined && { apiKey }) },
        isActive: connection.isActive !== false,
        ...(connection.edit !== undefined && { edit: connection.edit }),
      }
    },
    async recordOf({ record: { apiKey, ...given }, isActive = true }, before) {
      const { sealedApiKey, ...next } = withFields(before?.record, given, CONNECTION)
      const record = { ...next, isActive } as ConnectionRecord // by the schema of connections
      if (typeof apiKey !== 'string') return record
      return { ...record, sealedApiKey: await (await vault()).seal(placeOfApiKey(record), apiKey) }
    },
  }
}

const UNOPENED =
  'The key cannot be opened here: it was changed, moved, or sealed with another secret. Delete it and make a new one.'
const UNPROVEN = 'The key was not written by a gateway with this secret. Pause, resume or delete it.'
const UNPROVEN_GROUP = 'The group was not written by a gateway with this secret. Pause, resume or delete it.'
const MISPLACED = 'The key is not filed under its value. Delete it and make a new one.'

/** Keys are mirrored by their digests; home has their values, the cloud those of keys that were made there, until home has them. */
export function keyForm(
  store: WritableStore,
  side: Side,
): RecordForm & {
  slotOf(content: Content, before: MirroredItem | undefined): Promise<string>
} {
  /** A key's record as it stays when the value is not needed any more. */
  const digestOnly = ({ sealedKey, ...rest }: Partial<KeyRecord>, sha256: string) => ({
    ...rest,
    sealedKey: '',
    sha256,
  })

  return {
    hasActive: true,
    idOf: ({ id }) => String(id),

    async read({ slot, record }) {
      const key = record as KeyRecord // the item is one
      const vault = await store.vault()
      if (!(await store.isProvenKey(slot, key))) throw unmirrored(UNPROVEN)
      const value = key.sha256 === undefined ? await openKey(vault, key) : undefined
      const digest = value === undefined ? key.sha256 : await digestOfKey(value)
      if (digest === undefined) throw unmirrored(UNOPENED)
      const own = value === undefined ? await vault.digestBySha256(digest) : await vault.digest(value)
      if (own !== slot) throw unmirrored(MISPLACED)
      return {
        record: { ...picked(key, KEY), digest },
        isActive: key.isActive !== false,
        ...(key.edit !== undefined && { edit: key.edit }),
        ...(value !== undefined && { key: value }),
      }
    },

    async slotOf({ record: { digest }, key }, before) {
      const vault = await store.vault()
      if (side === 'home' && key !== undefined) return vault.digest(key)
      if (side === 'home' && before) {
        const { sha256 } = before.record as KeyRecord // the item is one
        const value = sha256 === undefined ? await openKey(vault, before.record as KeyRecord) : undefined
        if (value !== undefined && (await digestOfKey(value)) === digest) return before.slot
      }
      return vault.digestBySha256(String(digest))
    },

    async recordOf({ record, isActive = true, key }, before) {
      const { digest, ...given } = record
      const next: JsonObject & Partial<KeyRecord> = { ...withFields(before?.record, given, KEY), isActive }
      const id = String(record.id)
      if (side === 'cloud') return digestOnly(next, String(digest))
      const vault = await store.vault()
      const was = before && next.sha256 === undefined ? await openKey(vault, before.record as KeyRecord) : undefined
      const value = key ?? (was !== undefined && (await digestOfKey(was)) === digest ? was : undefined)
      if (value === undefined) return digestOnly(next, String(digest))
      const { sha256, ...whole } = next
      return { ...whole, sealedKey: await vault.seal(placeOfKey(id), value) }
    },
  }
}

/** Why a key cannot be mirrored. */
const unmirrored = (message: string) => gatewayError('STORAGE_FAILED', { message })
