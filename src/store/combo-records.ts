import { gatewayError, isGatewayError } from '../errors.ts'
import type { ComboRecord } from './collections.ts'
import type { WritableRecords } from './record-writes.ts'
import { retryLostRace } from './storage-access.ts'
import { currentCombos } from './store.ts'
import type { StoredEntry } from './stored-records.ts'

/** Changes combos by their ids, in a store that files them by name and that other processes change at the same time. */
interface ComboRecords {
  /** `check` sees all others first and throws what speaks against it. Throws `NAME_TAKEN`. */
  add(combo: ComboRecord, check: (others: readonly ComboRecord[]) => void): Promise<void>
  /** Throws `NOT_FOUND` and `NAME_TAKEN`. */
  change(id: string, change: ComboEdit): Promise<{ before: ComboRecord; after: ComboRecord }>
  /** `undefined` when there is none. */
  remove(id: string): Promise<ComboRecord | undefined>
  /** What counts in the storage itself, after the renames that it shows under way were ended: others may have died in them. */
  settled(): Promise<StoredEntry<ComboRecord>[]>
  /** Replaces one state of a combo by the next, `undefined` for none. Resolves to `false` when another writer was faster or the name is taken. */
  replace(before: StoredEntry<ComboRecord> | undefined, after: ComboRecord | undefined): Promise<boolean>
}

/** Both see the current state of all, throw what speaks against the change, and may be called again. */
interface ComboEdit {
  /** Comes before it is known whether the combo exists. */
  check(all: readonly ComboRecord[]): void
  /** Gives the combo as it shall be. */
  edit(current: ComboRecord, all: readonly ComboRecord[]): ComboRecord
}

export function createComboRecords(records: WritableRecords<ComboRecord>): ComboRecords {
  async function settled(): Promise<StoredEntry<ComboRecord>[]> {
    const entries = await records.entries({ fresh: true })
    const moving = entries.map(({ record }) => record).filter(({ from, movedTo }) => from ?? movedTo)
    if (moving.length === 0) return [...entries]
    const current = currentCombos(entries.map(({ record }) => record))
    for (const record of moving) {
      if (record.movedTo !== undefined) await finish(record, record.movedTo)
      else if (record.from !== undefined && !current.includes(record)) await takeBack(record, record.from)
    }
    return currentEntries(await records.entries({ fresh: true }))
  }

  /** Replaces one state of a record by the next, unless another writer was faster. */
  const put = (before: ComboRecord, after: ComboRecord) =>
    records.update(before.name, (current) => (isSame(current, before) ? revised(after) : undefined))

  /** One write decides: the one that marks the old record. What comes before can be taken back, what comes after be made up for. */
  async function move(
    { record: before, order }: StoredEntry<ComboRecord>,
    edited: ComboRecord,
  ): Promise<ComboRecord | undefined> {
    const after = revised({ ...edited, from: before.name })
    if (!(await records.insert(after.name, after, order))) throw gatewayError('NAME_TAKEN')
    const old = await put(before, { ...before, movedTo: after.name })
    if (old) await finish(old, after.name) // else the next look at the storage takes the new one back
    return old && after
  }

  async function finish(old: ComboRecord, name: string): Promise<void> {
    await records.update(name, ({ from, ...current }) =>
      current.id === old.id && from === old.name ? revised(current) : undefined,
    )
    await records.remove(old.name, (current) => isSame(current, old))
  }

  /** The old record gets another revision first, so that the process that began the rename, if it still runs, notices that it has failed. */
  async function takeBack(pending: ComboRecord, from: string): Promise<void> {
    const old = await records.get(from)
    if (old?.id === pending.id && (old.movedTo !== undefined || !(await put(old, old)))) return
    await records.remove(pending.name, (current) => isSame(current, pending))
  }

  return {
    settled,

    async replace(before, after) {
      if (!before) return after === undefined || records.insert(after.name, revised(after))
      const { name } = before.record
      if (!after) return (await records.remove(name, (current) => isSame(current, before.record))) !== undefined
      if (after.name === name) return (await put(before.record, after)) !== undefined
      const moving = move(before, after).catch((error: unknown) => {
        if (!isGatewayError(error, 'NAME_TAKEN')) throw error
      })
      return (await moving) !== undefined
    },

    async add(combo, check) {
      check((await settled()).map(({ record }) => record))
      if (!(await records.insert(combo.name, revised(combo)))) throw gatewayError('NAME_TAKEN')
    },

    change: (id, { check, edit }) =>
      retryLostRace(async () => {
        const entries = await settled()
        const all = entries.map(({ record }) => record)
        check(all)
        const entry = entries.find(has(id))
        if (!entry) throw gatewayError('NOT_FOUND', { message: 'Combo not found' })
        const before = entry.record
        const edited = edit(before, all)
        const after = edited.name === before.name ? await put(before, edited) : await move(entry, edited)
        return after !== undefined && { before, after }
      }),

    async remove(id) {
      let removed: ComboRecord | undefined
      await retryLostRace(async () => {
        const record = (await settled()).find(has(id))?.record
        if (!record || (removed && isSame(record, removed))) return true // gone, or shown by a list that is late
        const taken = await records.remove(record.name, (current) => isSame(current, record))
        removed = taken?.record ?? removed
        return false
      })
      return removed
    },
  }
}

function currentEntries(entries: readonly StoredEntry<ComboRecord>[]): StoredEntry<ComboRecord>[] {
  const current = new Set(currentCombos(entries.map(({ record }) => record)))
  return entries.filter(({ record }) => current.has(record))
}

const has =
  (id: string) =>
  ({ record }: StoredEntry<ComboRecord>) =>
    record.id === id

const revised = (record: ComboRecord): ComboRecord => ({ ...record, revision: crypto.randomUUID() })

const isSame = (one: ComboRecord, other: ComboRecord) =>
  one.id === other.id && one.revision === other.revision && one.updatedAt === other.updatedAt
