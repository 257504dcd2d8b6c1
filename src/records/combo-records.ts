import { gatewayError, isGatewayError } from '../errors.ts'
import { requireStored } from './defined-in-code.ts'
import type { ComboRecord } from './record-collections.ts'
import type { WritableRecords } from './record-writes.ts'
import { retryOnConflict } from './storage-access.ts'
import { filterValidCombos } from './store.ts'
import type { StoredEntry } from './stored-records.ts'

/** Changes combos by ID. The storage keeps them by name, and other processes may change them concurrently. */
interface ComboRecords {
  /**
   * Adds a combo. `check` first receives all other combos, and can throw to prevent the addition. With `replacesDamaged`, also replaces an unusable
   * record. Throws `NAME_TAKEN`.
   */
  add(
    combo: ComboRecord,
    check: (others: readonly ComboRecord[]) => void,
    options?: { replacesDamaged?: boolean },
  ): Promise<void>
  /** Changes a combo. Throws `NOT_FOUND` and `NAME_TAKEN`. */
  change(id: string, change: ComboEdit): Promise<{ before: ComboRecord; after: ComboRecord }>
  /** Returns the removed combo, or `undefined` if there is none. */
  remove(id: string): Promise<ComboRecord | undefined>
  /** Completes or undoes renames that a crashed process left behind, and returns the valid combos in the storage. */
  finishRenames(): Promise<StoredEntry<ComboRecord>[]>
  /**
   * Replaces a combo's current state with the next state; `undefined` means no combo. Resolves to `false` if another write came first or the name is
   * taken.
   */
  replace(before: StoredEntry<ComboRecord> | undefined, after: ComboRecord | undefined): Promise<boolean>
}

/** A change to a combo. Both functions get all current combos, throw to prevent the change, and may be called more than once. */
interface ComboEdit {
  /** Checks whether the change is allowed. Called even if the combo doesn't exist. */
  check(all: readonly ComboRecord[]): void
  /** Returns the changed combo. */
  edit(current: ComboRecord, all: readonly ComboRecord[]): ComboRecord
}

export function createComboRecords(records: WritableRecords<ComboRecord>): ComboRecords {
  async function finishRenames(): Promise<StoredEntry<ComboRecord>[]> {
    const entries = await records.entries({ fresh: true })
    const moving = entries.map(({ record }) => record).filter(({ from, movedTo }) => from ?? movedTo)
    if (moving.length === 0) return [...entries]
    const current = filterValidCombos(entries.map(({ record }) => record))
    for (const record of moving) {
      if (record.movedTo !== undefined) await finishRename(record, record.movedTo)
      else if (record.from !== undefined && !current.includes(record)) await undoRename(record, record.from)
    }
    return filterValidEntries(await records.entries({ fresh: true }))
  }

  const put = (before: ComboRecord, after: ComboRecord) =>
    records.update(before.name, (current) => (isSame(current, before) ? withNewRevision(after) : undefined))

  /**
   * Renames a combo. The write that marks the old record commits the rename: earlier writes can be undone, and later ones can be completed afterward.
   */
  async function rename(
    { record: before, order }: StoredEntry<ComboRecord>,
    edited: ComboRecord,
  ): Promise<ComboRecord | undefined> {
    requireStored(before)
    const after = withNewRevision({ ...edited, from: before.name })
    if (!(await records.insert(after.name, after, order))) throw gatewayError('NAME_TAKEN')
    const old = await put(before, { ...before, movedTo: after.name })
    if (old) await finishRename(old, after.name) // otherwise, `finishRenames` removes the new record
    return old && after
  }

  async function finishRename(old: ComboRecord, name: string): Promise<void> {
    await records.update(name, ({ from, ...current }) =>
      current.id === old.id && from === old.name ? withNewRevision(current) : undefined,
    )
    await records.remove(old.name, (current) => isSame(current, old))
  }

  /** Undoes a rename. First gives the old record another revision, so the renaming process notices its failure if it is still running. */
  async function undoRename(pending: ComboRecord, from: string): Promise<void> {
    const old = await records.get(from)
    if (old?.id === pending.id && (old.movedTo !== undefined || !(await put(old, old)))) return
    await records.remove(pending.name, (current) => isSame(current, pending))
  }

  return {
    finishRenames,

    async replace(before, after) {
      if (!before) return after === undefined || records.insert(after.name, withNewRevision(after))
      const { name } = before.record
      if (!after) return (await records.remove(name, (current) => isSame(current, before.record))) !== undefined
      if (after.name === name) return (await put(before.record, after)) !== undefined
      const moving = rename(before, after).catch((error: unknown) => {
        if (!isGatewayError(error, 'NAME_TAKEN')) throw error
      })
      return (await moving) !== undefined
    },

    async add(combo, check, { replacesDamaged = false } = {}) {
      check((await finishRenames()).map(({ record }) => record))
      const record = withNewRevision(combo)
      if (await records.insert(combo.name, record)) return
      if (!replacesDamaged || !(await records.replaceDamaged(combo.name, record))) throw gatewayError('NAME_TAKEN')
    },

    change: (id, { check, edit }) =>
      retryOnConflict(async () => {
        const entries = await finishRenames()
        const all = entries.map(({ record }) => record)
        check(all)
        const entry = entries.find(hasId(id))
        if (!entry) throw gatewayError('NOT_FOUND', { message: 'Combo not found' })
        const before = entry.record
        const edited = edit(before, all)
        const after = edited.name === before.name ? await put(before, edited) : await rename(entry, edited)
        return after !== undefined && { before, after }
      }),

    async remove(id) {
      let removed: ComboRecord | undefined
      await retryOnConflict(async () => {
        const record = (await finishRenames()).find(hasId(id))?.record
        if (!record || (removed && isSame(record, removed))) return true // the combo was already removed, or came from an outdated list
        const result = await records.remove(record.name, (current) => isSame(current, record))
        removed = result?.record ?? removed
        return false
      })
      return removed
    },
  }
}

function filterValidEntries(entries: readonly StoredEntry<ComboRecord>[]): StoredEntry<ComboRecord>[] {
  const current = new Set(filterValidCombos(entries.map(({ record }) => record)))
  return entries.filter(({ record }) => current.has(record))
}

const hasId =
  (id: string) =>
  ({ record }: StoredEntry<ComboRecord>) =>
    record.id === id

const withNewRevision = (record: ComboRecord): ComboRecord => ({ ...record, revision: crypto.randomUUID() })

const isSame = (a: ComboRecord, b: ComboRecord) =>
  a.id === b.id && a.revision === b.revision && a.updatedAt === b.updatedAt
