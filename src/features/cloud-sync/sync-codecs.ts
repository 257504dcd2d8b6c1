import { gatewayError } from '../../errors.ts'
import type { JsonObject } from '../../lib/json.ts'
import { type DecryptedGuard, decryptHeaders, encryptHeaders } from '../../records/guard-records.ts'
import { decryptKey, getApiKeyContext, getKeyContext } from '../../records/keyring.ts'
import type { ConnectionRecord, GroupRecord, KeyRecord, StoredGuard } from '../../records/record-collections.ts'
import { decryptApiKey } from '../../records/store.ts'
import type { WritableStore } from '../../records/writable-store.ts'
import { connectionFields } from '../../types/records/connection-fields.ts'
import { groupFields } from '../../types/records/group-fields.ts'
import { guardFields } from '../../types/records/guard-fields.ts'
import { keyFields } from '../../types/records/key-fields.ts'
import type { RecordFields } from '../../types/records/record-fields.ts'
import { digestKey } from './cryptography.ts'
import type { Side } from './sync-types.ts'

/** A stored record. */
export interface SyncItem {
  /** The record's ID on both sides. */
  id: string
  /** The record's key in its collection: a digest for keys, the name for combos, otherwise the ID. */
  slot: string
  record: object
  version: string
}

/** The synced content of a record. */
export interface Content {
  /** The record as sent, except for `key`. */
  record: JsonObject
  isActive?: boolean
  /** Identifies the last call that set `isActive` or `requireApiKey`; never sent. */
  edit?: string
  /** The value of an API key, if known. */
  key?: string
}

/** Converts between a collection's records and their synced content. */
export interface SyncCodec {
  /** Whether the records have an active flag, which is merged separately. */
  hasActive: boolean
  /** Returns a record's synced content. Throws an error with a user-facing message if the record can't be synced. */
  read(item: SyncItem): Promise<Content>
  getId(record: JsonObject): string
  /** Builds a record from its content and encrypts its secrets. Unsynced fields keep their previous values. */
  buildRecord(content: Content, previousItem: SyncItem | undefined): Promise<object>
}

/** Lists the fields that are synced unchanged. */
export const listSyncedFields = (fields: RecordFields): string[] =>
  Object.entries(fields).flatMap(([name, { isStored, isShown, isSynced }]) =>
    [isStored, isShown, isSynced].includes(false) ? [] : [name],
  )

/** Creates the codec for records that are synced unchanged. `extraFields` lists additional fields to sync. */
export function createPlainCodec(
  fields: RecordFields,
  getId: (record: JsonObject) => string,
  extraFields: readonly string[] = [],
): SyncCodec {
  const fieldNames = [...listSyncedFields(fields), ...extraFields]
  return {
    hasActive: false,
    getId,
    read: async ({ record }) => ({ record: pickFields(record, fieldNames) }),
    buildRecord: async ({ record }, previousItem) => replaceFields(previousItem?.record, record, fieldNames),
  }
}

function pickFields(record: object, names: readonly string[]): JsonObject {
  const pickedFields: JsonObject = {}
  for (const name of names) {
    const value: unknown = Reflect.get(record, name)
    if (value !== undefined) pickedFields[name] = value
  }
  return pickedFields
}

function replaceFields(previousRecord: object | undefined, fields: JsonObject, names: readonly string[]): JsonObject {
  const remainingFields: JsonObject = { ...previousRecord }
  for (const name of names) delete remainingFields[name]
  return { ...remainingFields, ...pickFields(fields, names) }
}

const CONNECTION_FIELDS = listSyncedFields(connectionFields)
const KEY_FIELDS = listSyncedFields(keyFields)

/** Creates the codec for groups, which are synced unchanged if a gateway with this secret wrote them. */
export function createGroupCodec(store: Pick<WritableStore, 'isSignedGroup'>): SyncCodec {
  const plainCodec = createPlainCodec(groupFields, ({ id }) => String(id))
  return {
    ...plainCodec,
    async read(item) {
      if (!(await store.isSignedGroup(item.slot, item.record as GroupRecord)))
        throw createRecordError(UNSIGNED_GROUP_MESSAGE) // this codec only gets groups
      return plainCodec.read(item)
    },
  }
}

/** Creates the codec for guards, which are synced if a gateway with this secret wrote them. Each side encrypts their headers. */
export function createGuardCodec({
  keyring,
  isSignedGuard,
}: Pick<WritableStore, 'isSignedGuard' | 'keyring'>): SyncCodec {
  const plainCodec = createPlainCodec(guardFields, ({ name }) => String(name), ['headers'])
  return {
    ...plainCodec,
    async read(item) {
      const guard = item.record as StoredGuard // this codec only gets guards
      if (!(await isSignedGuard(guard))) throw createRecordError(UNSIGNED_GUARD_MESSAGE)
      return plainCodec.read({ ...item, record: await decryptHeaders(keyring, guard) })
    },
    async buildRecord(content, previousItem) {
      return encryptHeaders(keyring, (await plainCodec.buildRecord(content, previousItem)) as DecryptedGuard) // validated by the guard schema
    },
  }
}

/** Creates the codec for connections, including their credentials. Each side encrypts credentials itself. */
export function createConnectionCodec(store: Pick<WritableStore, 'keyring' | 'code'>): SyncCodec {
  const { keyring } = store
  return {
    hasActive: true,
    getId: ({ id }) => String(id),
    async read({ record }) {
      const connection = record as ConnectionRecord // this codec only gets connections
      const apiKey = await decryptApiKey(store, connection)
      return {
        record: { ...pickFields(record, CONNECTION_FIELDS), ...(apiKey !== undefined && { apiKey }) },
        isActive: connection.isActive !== false,
        ...(connection.edit !== undefined && { edit: connection.edit }),
      }
    },
    async buildRecord({ record: { apiKey, ...fields }, isActive = true }, previousItem) {
      const { sealedApiKey, ...otherFields } = replaceFields(previousItem?.record, fields, CONNECTION_FIELDS)
      const record = { ...otherFields, isActive } as ConnectionRecord // the connection schema validates it
      if (typeof apiKey !== 'string') return record
      return { ...record, sealedApiKey: await (await keyring()).encrypt(getApiKeyContext(record), apiKey) }
    },
  }
}

const UNREADABLE_MESSAGE =
  'The key cannot be decrypted here because it was changed, moved, or encrypted with another secret. Delete it and create a new one.'
const UNSIGNED_KEY_MESSAGE = 'The key was not written by a gateway with this secret. Pause, resume, or delete it.'
const UNSIGNED_GROUP_MESSAGE = 'The group was not written by a gateway with this secret. Pause, resume, or delete it.'
const MISPLACED_KEY_MESSAGE = 'The key is not stored under its value. Delete it and create a new one.'
const UNSIGNED_GUARD_MESSAGE = 'The guard was not written by a gateway with this secret. Save it again, or delete it.'

/**
 * Creates the codec for keys, which are synced as digests. Only the gateway retains key values. The cloud retains the value of a key created there
 * only until the gateway has it.
 */
export function createKeyCodec(
  store: WritableStore,
  side: Side,
): SyncCodec & {
  getSlot(content: Content, previousItem: SyncItem | undefined): Promise<string>
} {
  const replaceValueWithDigest = ({ sealedKey, ...otherFields }: Partial<KeyRecord>, sha256: string) => ({
    ...otherFields,
    sealedKey: '',
    sha256,
  })

  return {
    hasActive: true,
    getId: ({ id }) => String(id),

    async read({ slot, record }) {
      const key = record as KeyRecord // this codec only gets keys
      const keyring = await store.keyring()
      if (!(await store.isSignedKey(slot, key))) throw createRecordError(UNSIGNED_KEY_MESSAGE)
      const value = key.sha256 === undefined ? await decryptKey(keyring, key) : undefined
      const digest = value === undefined ? key.sha256 : await digestKey(value)
      if (digest === undefined) throw createRecordError(UNREADABLE_MESSAGE)
      const computedDigest = value === undefined ? await keyring.digestBySha256(digest) : await keyring.digest(value)
      if (computedDigest !== slot) throw createRecordError(MISPLACED_KEY_MESSAGE)
      return {
        record: { ...pickFields(key, KEY_FIELDS), digest },
        isActive: key.isActive !== false,
        ...(key.edit !== undefined && { edit: key.edit }),
        ...(value !== undefined && { key: value }),
      }
    },

    async getSlot({ record: { digest }, key }, previousItem) {
      const keyring = await store.keyring()
      if (side === 'gateway' && key !== undefined) return keyring.digest(key)
      if (side === 'gateway' && previousItem) {
        const { sha256 } = previousItem.record as KeyRecord // this codec only gets keys
        const value = sha256 === undefined ? await decryptKey(keyring, previousItem.record as KeyRecord) : undefined
        if (value !== undefined && (await digestKey(value)) === digest) return previousItem.slot
      }
      return keyring.digestBySha256(String(digest))
    },

    async buildRecord({ record, isActive = true, key }, previousItem) {
      const { digest, ...fields } = record
      const nextRecord: JsonObject & Partial<KeyRecord> = {
        ...replaceFields(previousItem?.record, fields, KEY_FIELDS),
        isActive,
      }
      const id = String(record.id)
      if (side === 'cloud') return replaceValueWithDigest(nextRecord, String(digest))
      const keyring = await store.keyring()
      const previousValue =
        previousItem && nextRecord.sha256 === undefined
          ? await decryptKey(keyring, previousItem.record as KeyRecord)
          : undefined
      const value =
        key ?? (previousValue !== undefined && (await digestKey(previousValue)) === digest ? previousValue : undefined)
      if (value === undefined) return replaceValueWithDigest(nextRecord, String(digest))
      const { sha256, ...otherFields } = nextRecord
      return { ...otherFields, sealedKey: await keyring.encrypt(getKeyContext(id), value) }
    },
  }
}

const createRecordError = (message: string) => gatewayError('STORAGE_FAILED', { message })
