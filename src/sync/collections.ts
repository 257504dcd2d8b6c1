import type { JsonObject } from '../lib/json.ts'
import { type ComboRecord, SETTINGS } from '../store/collections.ts'
import { createComboRecords } from '../store/combo-records.ts'
import type { WritableRecords } from '../store/record-writes.ts'
import { isAway } from '../store/storage-access.ts'
import { customModelId, type WritableStore } from '../store/writable-store.ts'
import { comboFields } from '../types/records/combos.ts'
import { aliasFields, customModelFields, providerFields } from '../types/records/models.ts'
import {
  type Content,
  connectionForm,
  groupForm,
  keyForm,
  type MirroredItem,
  plainForm,
  type RecordForm,
} from './forms.ts'
import type { Collection } from './protocol.ts'
import type { ReplicaOptions } from './types.ts'

/* The collections of a mirror, each as a replica reads and writes it, whatever its records are filed under. */

/** One collection of a mirror. */
export interface Mirrored extends RecordForm {
  /** All records, as far as they are in memory; several may have one id. */
  list(): Promise<readonly MirroredItem[]>
  /** Those with these ids in the storage itself; `slot` is where one was last. */
  find(
    wanted: ReadonlyArray<{ id: string; slot: string | undefined }>,
  ): Promise<Map<string, MirroredItem[] | 'damaged'>>
  /** The record that is filed there in the storage itself. */
  at(slot: string): Promise<MirroredItem | 'damaged' | undefined>
  /** What the record of a content is to be filed under. */
  slotOf(content: Content, before: MirroredItem | undefined): Promise<string>
  /** Replaces a record, or inserts one. Resolves to `false` when another writer was faster, or the slot is taken. */
  write(before: MirroredItem | undefined, after: { slot: string; record: object }): Promise<boolean>
  remove(item: MirroredItem): Promise<boolean>
}

export function mirroredCollections({
  store,
  side,
  validate,
}: Pick<ReplicaOptions, 'store' | 'side' | 'validate'>): Record<Collection, Mirrored> {
  /** Nothing is sent that the other side would refuse, nor that it would store otherwise. */
  const formed = <Form extends RecordForm>(collection: Collection, form: Form): Form => ({
    ...form,
    read: async (item: MirroredItem) => {
      const content = await form.read(item)
      return { ...content, record: validate(collection, content.record) }
    },
  })
  return {
    settings: settingsOf(store),
    groups: filedById(store.groups, formed('groups', groupForm(store))),
    keys: keysOf(store, formed('keys', keyForm(store, side))),
    connections: filedById(store.connections, formed('connections', connectionForm(store))),
    combos: combosOf(
      store.combos,
      formed(
        'combos',
        plainForm(comboFields, ({ id }) => String(id)),
      ),
    ),
    customModels: filedById(store.customModels, formed('customModels', plainForm(customModelFields, modelId))),
    aliases: filedById(
      store.aliases,
      formed(
        'aliases',
        plainForm(aliasFields, ({ alias }) => String(alias)),
      ),
    ),
    providers: filedById(
      store.providers,
      formed(
        'providers',
        plainForm(providerFields, ({ provider }) => String(provider)),
      ),
    ),
  }
}

const modelId = ({ providerAlias, id }: JsonObject) =>
  customModelId({ providerAlias: String(providerAlias), id: String(id) })

/** Those that are filed under their ids. */
function filedById<T extends object>(records: WritableRecords<T>, form: RecordForm): Mirrored {
  const { at, list, write, remove } = storedRecords(records, (_, slot) => slot)
  return {
    ...form,
    list,
    at,
    async find(wanted) {
      const found = await Promise.all(wanted.map(({ id }) => at(id)))
      return new Map(wanted.map(({ id }, index) => [id, asList(found[index])]))
    },
    slotOf: async ({ record }) => form.idOf(record),
    write,
    remove,
  }
}

const asList = (found: MirroredItem | 'damaged' | undefined) => (found === 'damaged' ? found : found ? [found] : [])

/** How records are read and written in their slots. */
function storedRecords<T extends object>(records: WritableRecords<T>, idOf: (record: T, slot: string) => string) {
  const { stored } = records.source
  let lastOrder = 0
  const items = new WeakMap<object, MirroredItem>()

  /** The same item for the same record. */
  function itemOf({ id: slot, record, version }: { id: string; record: T; version: string }): MirroredItem {
    const known = items.get(record)
    if (known) return known
    const item = { id: idOf(record, slot), slot, record, version }
    items.set(record, item)
    return item
  }

  return {
    async list() {
      const entries = await records.entries()
      lastOrder = Math.max(lastOrder, entries.at(-1)?.order ?? 0)
      return entries.map(itemOf)
    },
    fresh: async () => (await records.entries({ fresh: true })).map(itemOf),
    async at(slot: string): Promise<MirroredItem | 'damaged' | undefined> {
      const found = await stored.read(slot)
      return found && found !== 'damaged' ? itemOf(found) : found
    },
    async write(
      before: MirroredItem | undefined,
      { slot, record }: { slot: string; record: object },
    ): Promise<boolean> {
      const next = record as T // made by the form of these records
      if (!before) return records.insert(slot, next, ++lastOrder)
      if (before.slot === slot)
        return (
          (await records.update(slot, (_, version) => (version === before.version ? next : undefined))) !== undefined
        )
      if (!(await records.insert(slot, next, ++lastOrder))) return false
      if (await records.remove(before.slot, (_, version) => version === before.version)) return true
      await records.remove(slot) // the record that it was to replace is another one now, or deleted
      return false
    },
    remove: async ({ slot, version }: MirroredItem) =>
      (await records.remove(slot, (_, current) => current === version)) !== undefined,
  }
}

/** Keys are filed under digests, several under one id after a change of the value that was cut off. */
function keysOf({ keys }: WritableStore, form: RecordForm & Pick<Mirrored, 'slotOf'>): Mirrored {
  const { at, list, fresh, write, remove } = storedRecords(keys, ({ id }) => id)
  /** Where keys are, as far as they are in memory; those that are in several places. */
  const slots = new Map<string, string>()
  const doubles = new Set<string>()
  let indexed: { entries: readonly unknown[]; count: number } | undefined

  /** Keys are added at the end of the list that is in memory. */
  async function index(): Promise<void> {
    const entries = await keys.entries()
    if (indexed?.entries !== entries) {
      slots.clear()
      doubles.clear()
      indexed = { entries, count: 0 }
    }
    for (let at = Math.min(indexed.count, entries.length); at < entries.length; at++) {
      const entry = entries[at]
      if (!entry) continue
      const { id, record } = entry
      if ((slots.get(record.id) ?? id) !== id) doubles.add(record.id)
      else slots.set(record.id, id)
    }
    indexed.count = entries.length
  }

  return {
    ...form,
    list,
    at,
    async find(wanted) {
      await index()
      const found = new Map<string, MirroredItem[] | 'damaged'>()
      const sought = new Map<string, string | undefined>()
      await Promise.all(
        wanted.map(async ({ id, slot = slots.get(id) }) => {
          const item = slot === undefined ? undefined : await at(slot)
          if (item === 'damaged') found.set(id, item)
          else if (doubles.has(id) || (slot !== undefined && item?.id !== id)) sought.set(id, slot)
          else found.set(id, item ? [item] : [])
        }),
      )
      if (sought.size === 0) return found
      const all = await fresh()
      for (const [id, slot] of sought) {
        const items = all.filter((item) => item.id === id)
        found.set(id, [...items.filter((item) => item.slot === slot), ...items.filter((item) => item.slot !== slot)])
      }
      return found
    },
    write,
    remove,
  }
}

/** Combos are filed under their names; a rename takes several writes. */
function combosOf(records: WritableRecords<ComboRecord>, form: RecordForm): Mirrored {
  const combos = createComboRecords(records)
  const stored = records.source.stored
  const items = new WeakMap<object, MirroredItem>()
  const entryOf = new WeakMap<MirroredItem, Awaited<ReturnType<typeof combos.settled>>[number]>()

  async function settled(): Promise<MirroredItem[]> {
    return (await combos.settled()).map((entry) => {
      const { record, version } = entry
      const item = items.get(record) ?? { id: record.id, slot: record.name, record, version }
      items.set(record, item)
      entryOf.set(item, entry)
      return item
    })
  }

  const entry = (item: MirroredItem | undefined) => item && entryOf.get(item)

  return {
    ...form,
    async list() {
      return (await records.all()).map((record) => {
        const item = items.get(record) ?? { id: record.id, slot: record.name, record, version: '' }
        items.set(record, item)
        return item
      })
    },
    async at(slot) {
      const found = (await settled()).find((item) => item.slot === slot)
      return found ?? ((await stored.read(slot)) === 'damaged' ? 'damaged' : undefined)
    },
    async find(wanted) {
      const all = await settled()
      const found = new Map<string, MirroredItem[] | 'damaged'>()
      for (const { id, slot } of wanted) {
        const items = all.filter((item) => item.id === id)
        const isDamaged = items.length === 0 && slot !== undefined && (await stored.read(slot)) === 'damaged'
        found.set(id, isDamaged ? 'damaged' : items)
      }
      return found
    },
    slotOf: async ({ record }) => String(record.name),
    write: (before, { record }) => combos.replace(entry(before), record as ComboRecord), // made by the form of combos
    remove: (item) => combos.replace(entry(item), undefined),
  }
}

/** The settings are one record, which is always there. */
function settingsOf({ settings, damage }: WritableStore): Mirrored {
  let last: MirroredItem | undefined

  async function current(isFresh: boolean): Promise<MirroredItem | 'damaged'> {
    const read = isFresh ? settings.reread() : settings.read()
    const stored = await read.catch((error: unknown) => {
      if (isAway(error)) throw error
      return undefined
    })
    if (!stored || damage.has(SETTINGS)) return 'damaged'
    if (last?.record !== stored) last = { id: SETTINGS, slot: SETTINGS, record: stored, version: '' }
    return last
  }

  return {
    hasActive: false,
    async list() {
      const item = await current(false)
      return item === 'damaged' ? [] : [item]
    },
    find: async () => new Map([[SETTINGS, asList(await current(true))]]),
    at: () => current(true),
    async read({ record }) {
      const edit: unknown = Reflect.get(record, 'edit')
      const requireApiKey = Reflect.get(record, 'requireApiKey') === true
      return { record: { requireApiKey }, ...(typeof edit === 'string' && { edit }) }
    },
    idOf: () => SETTINGS,
    slotOf: async () => SETTINGS,
    recordOf: async ({ record }) => record,
    // There are two values: if another writer was faster, it has written this one.
    async write(_, { record }) {
      await settings.update(() => ({ requireApiKey: Reflect.get(record, 'requireApiKey') === true }))
      return true
    },
    remove: async () => false,
  }
}
