import type { JsonObject } from '../../lib/json.ts'
import { createComboRecords } from '../../records/combo-records.ts'
import { isDefinedInCode } from '../../records/defined-in-code.ts'
import { type ComboRecord, getCustomModelId, SETTINGS_KEY } from '../../records/record-collections.ts'
import type { WritableRecords } from '../../records/record-writes.ts'
import { isStorageUnavailable } from '../../records/storage-access.ts'
import type { StoredSettings } from '../../records/stored-settings.ts'
import type { WritableStore } from '../../records/writable-store.ts'
import { comboFields } from '../../types/records/combo-fields.ts'
import { aliasFields, customModelFields, providerFields } from '../../types/records/model-fields.ts'
import type { Collection } from './protocol.ts'
import {
  type Content,
  createConnectionCodec,
  createGroupCodec,
  createGuardCodec,
  createKeyCodec,
  createPlainCodec,
  type SyncCodec,
  type SyncItem,
} from './sync-codecs.ts'
import type { ReplicaOptions } from './sync-types.ts'

/** Reads and writes one synced collection, hiding how its records are stored. */
export interface SyncTable extends SyncCodec {
  /** Lists the records in memory. Several may have the same ID. */
  list(): Promise<readonly SyncItem[]>
  /** Reads the records with these IDs from storage. `slot` is a record's last slot. */
  find(requested: ReadonlyArray<{ id: string; slot: string | undefined }>): Promise<Map<string, SyncItem[] | 'damaged'>>
  /** Reads the record in a slot from storage. */
  readSlot(slot: string): Promise<SyncItem | 'damaged' | undefined>
  /** Returns the slot for this content. */
  getSlot(content: Content, previousItem: SyncItem | undefined): Promise<string>
  /** Replaces or inserts a record. Resolves to `false` if another write came first or if the slot is taken. */
  write(previousItem: SyncItem | undefined, replacement: { slot: string; record: object }): Promise<boolean>
  remove(item: SyncItem): Promise<boolean>
}

export function createSyncTables({
  store,
  side,
  validate,
}: Pick<ReplicaOptions, 'store' | 'side' | 'validate'>): Record<Collection, SyncTable> {
  /** Validates records before they are sent, so the other side neither rejects them nor stores them differently. */
  const withValidation = <Codec extends SyncCodec>(collection: Collection, codec: Codec): Codec => ({
    ...codec,
    read: async (item: SyncItem) => {
      const content = await codec.read(item)
      return { ...content, record: validate(collection, content.record) }
    },
  })
  return {
    guards: createTableById(store.guards, withValidation('guards', createGuardCodec(store))),
    settings: createSettingsTable(store),
    groups: createTableById(store.groups, withValidation('groups', createGroupCodec(store))),
    keys: createKeysTable(store, withValidation('keys', createKeyCodec(store, side))),
    connections: createTableById(store.connections, withValidation('connections', createConnectionCodec(store))),
    combos: createCombosTable(
      store.combos,
      withValidation(
        'combos',
        createPlainCodec(comboFields, ({ id }) => String(id)),
      ),
    ),
    customModels: createTableById(
      store.customModels,
      withValidation('customModels', createPlainCodec(customModelFields, getModelId)),
    ),
    aliases: createTableById(
      store.aliases,
      withValidation(
        'aliases',
        createPlainCodec(aliasFields, ({ alias }) => String(alias)),
      ),
    ),
    providers: createTableById(
      store.providers,
      withValidation(
        'providers',
        createPlainCodec(providerFields, ({ provider }) => String(provider)),
      ),
    ),
  }
}

const getModelId = ({ providerAlias, id }: JsonObject) =>
  getCustomModelId({ providerAlias: String(providerAlias), id: String(id) })

function createTableById<T extends object>(records: WritableRecords<T>, codec: SyncCodec): SyncTable {
  const { readSlot, list, write, remove } = createSlots(records, (_, slot) => slot)
  return {
    ...codec,
    list,
    readSlot,
    async find(requested) {
      const slotItems = await Promise.all(requested.map(({ id }) => readSlot(id)))
      return new Map(requested.map(({ id }, index) => [id, toItemList(slotItems[index])]))
    },
    getSlot: async ({ record }) => codec.getId(record),
    write,
    remove,
  }
}

const toItemList = (item: SyncItem | 'damaged' | undefined) => (item === 'damaged' ? item : item ? [item] : [])

/** Accesses records by slot. `isSynced` returns whether a record is synced. By default, all records are, except those defined in code. */
function createSlots<T extends object>(
  records: WritableRecords<T>,
  getId: (record: T, slot: string) => string,
  isSynced: (record: T) => boolean = (record) => !isDefinedInCode(record),
) {
  const { stored } = records.source
  let lastOrder = 0
  const items = new WeakMap<object, SyncItem>()

  function toItem({ id: slot, record, version }: { id: string; record: T; version: string }): SyncItem {
    const cachedItem = items.get(record)
    if (cachedItem) return cachedItem
    const item = { id: getId(record, slot), slot, record, version }
    items.set(record, item)
    return item
  }

  return {
    async list() {
      const entries = await records.entries()
      lastOrder = Math.max(lastOrder, entries.at(-1)?.order ?? 0)
      return entries.filter(({ record }) => isSynced(record)).map(toItem)
    },
    listFresh: async () =>
      (await records.entries({ fresh: true })).filter(({ record }) => isSynced(record)).map(toItem),
    async readSlot(slot: string): Promise<SyncItem | 'damaged' | undefined> {
      const storedEntry = await stored.read(slot)
      if (!storedEntry || storedEntry === 'damaged') return storedEntry
      return isSynced(storedEntry.record) ? toItem(storedEntry) : undefined
    },
    async write(
      previousItem: SyncItem | undefined,
      { slot, record }: { slot: string; record: object },
    ): Promise<boolean> {
      const newRecord = record as T // built by this collection's codec
      if (!previousItem) return records.insert(slot, newRecord, ++lastOrder)
      if (previousItem.slot === slot)
        return (
          (await records.update(slot, (_, version) => (version === previousItem.version ? newRecord : undefined))) !==
          undefined
        )
      if (!(await records.insert(slot, newRecord, ++lastOrder))) return false
      if (await records.remove(previousItem.slot, (_, version) => version === previousItem.version)) return true
      await records.remove(slot) // another writer replaced or deleted the old record
      return false
    },
    remove: async ({ slot, version }: SyncItem) =>
      (await records.remove(slot, (_, currentVersion) => currentVersion === version)) !== undefined,
  }
}

/** Accesses keys, which are stored under digests. A key has several records if a change to its value was interrupted. */
function createKeysTable({ keys }: WritableStore, codec: SyncCodec & Pick<SyncTable, 'getSlot'>): SyncTable {
  const { readSlot, list, listFresh, write, remove } = createSlots(
    keys,
    ({ id }) => id,
    ({ account, actsFor }) => account === undefined && actsFor === undefined, // the cloud proxy doesn't support accounts
  )
  /** The slots of the keys in memory by ID, and the IDs with several slots. */
  const slotsById = new Map<string, string>()
  const duplicateIds = new Set<string>()
  let indexProgress: { entries: readonly unknown[]; count: number } | undefined

  /** Updates `slotsById`; new keys are at the end of the list in memory. */
  async function updateIndex(): Promise<void> {
    const entries = await keys.entries()
    if (indexProgress?.entries !== entries) {
      slotsById.clear()
      duplicateIds.clear()
      indexProgress = { entries, count: 0 }
    }
    for (let index = Math.min(indexProgress.count, entries.length); index < entries.length; index++) {
      const entry = entries[index]
      if (!entry) continue
      const { id, record } = entry
      if ((slotsById.get(record.id) ?? id) !== id) duplicateIds.add(record.id)
      else slotsById.set(record.id, id)
    }
    indexProgress.count = entries.length
  }

  return {
    ...codec,
    list,
    readSlot,
    async find(requested) {
      await updateIndex()
      const itemsById = new Map<string, SyncItem[] | 'damaged'>()
      const pendingIds = new Map<string, string | undefined>()
      await Promise.all(
        requested.map(async ({ id, slot = slotsById.get(id) }) => {
          const item = slot === undefined ? undefined : await readSlot(slot)
          if (item === 'damaged') itemsById.set(id, item)
          else if (duplicateIds.has(id) || (slot !== undefined && item?.id !== id)) pendingIds.set(id, slot)
          else itemsById.set(id, item ? [item] : [])
        }),
      )
      if (pendingIds.size === 0) return itemsById
      const freshItems = await listFresh()
      for (const [id, slot] of pendingIds) {
        const matchingItems = freshItems.filter((item) => item.id === id)
        itemsById.set(id, [
          ...matchingItems.filter((item) => item.slot === slot),
          ...matchingItems.filter((item) => item.slot !== slot),
        ])
      }
      return itemsById
    },
    write,
    remove,
  }
}

/** Accesses combos, which are stored under their names. Renaming one takes several writes. */
function createCombosTable(records: WritableRecords<ComboRecord>, codec: SyncCodec): SyncTable {
  const combos = createComboRecords(records)
  const stored = records.source.stored
  const items = new WeakMap<object, SyncItem>()
  const entries = new WeakMap<SyncItem, Awaited<ReturnType<typeof combos.finishRenames>>[number]>()

  async function listAfterRenames(): Promise<SyncItem[]> {
    return (await combos.finishRenames()).map((entry) => {
      const { record, version } = entry
      const item = items.get(record) ?? { id: record.id, slot: record.name, record, version }
      items.set(record, item)
      entries.set(item, entry)
      return item
    })
  }

  const getEntry = (item: SyncItem | undefined) => item && entries.get(item)

  return {
    ...codec,
    async list() {
      return (await records.all()).map((record) => {
        const item = items.get(record) ?? { id: record.id, slot: record.name, record, version: '' }
        items.set(record, item)
        return item
      })
    },
    async readSlot(slot) {
      const slotItem = (await listAfterRenames()).find((item) => item.slot === slot)
      return slotItem ?? ((await stored.read(slot)) === 'damaged' ? 'damaged' : undefined)
    },
    async find(requested) {
      const currentItems = await listAfterRenames()
      const itemsById = new Map<string, SyncItem[] | 'damaged'>()
      for (const { id, slot } of requested) {
        const matchingItems = currentItems.filter((item) => item.id === id)
        const isDamaged = matchingItems.length === 0 && slot !== undefined && (await stored.read(slot)) === 'damaged'
        itemsById.set(id, isDamaged ? 'damaged' : matchingItems)
      }
      return itemsById
    },
    getSlot: async ({ record }) => String(record.name),
    write: (previousItem, { record }) => combos.replace(getEntry(previousItem), record as ComboRecord), // this table's codec built the record
    remove: (item) => combos.replace(getEntry(item), undefined),
  }
}

function createSettingsTable({ settings, damage }: WritableStore): SyncTable {
  let lastItem: SyncItem | undefined

  async function readCurrent(isFresh: boolean): Promise<SyncItem | 'damaged'> {
    const storedSettings = isFresh ? settings.reread() : settings.read()
    const stored = await storedSettings.catch((error: unknown) => {
      if (isStorageUnavailable(error)) throw error
      return undefined
    })
    if (!stored || damage.has(SETTINGS_KEY)) return 'damaged'
    if (lastItem?.record !== stored) lastItem = { id: SETTINGS_KEY, slot: SETTINGS_KEY, record: stored, version: '' }
    return lastItem
  }

  return {
    hasActive: false,
    async list() {
      const item = await readCurrent(false)
      return item === 'damaged' ? [] : [item]
    },
    find: async () => new Map([[SETTINGS_KEY, toItemList(await readCurrent(true))]]),
    readSlot: () => readCurrent(true),
    async read({ record }) {
      const edit: unknown = Reflect.get(record, 'edit')
      return { record: pickSettings(record), ...(typeof edit === 'string' && { edit }) }
    },
    getId: () => SETTINGS_KEY,
    getSlot: async () => SETTINGS_KEY,
    buildRecord: async ({ record }) => record,
    // If another write came first, the next sync sees its value.
    async write(_, { record }) {
      await settings.update(() => ({ guards: undefined, ...pickSettings(record) }))
      return true
    },
    remove: async () => false,
  }
}

/** Returns the settings that are synced. */
const pickSettings = ({ requireApiKey, guards }: Partial<StoredSettings>) => ({
  requireApiKey: requireApiKey === true,
  ...(guards && { guards }),
})
