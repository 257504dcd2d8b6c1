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
    check: (otherCombos: readonly ComboRecord[]) => void,
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
  check(combos: readonly ComboRecord[]): void
  /** Returns the changed combo. */
  edit(current: ComboRecord, combos: readonly ComboRecord[]): ComboRecord
}

export function createComboRecords(records: WritableRecords<ComboRecord>): ComboRecords {
  async function finishRenames(): Promise<StoredEntry<ComboRecord>[]> {
    const entries = await records.entries({ fresh: true })
    const renamedRecords = entries.map(({ record }) => record).filter(({ from, movedTo }) => from ?? movedTo)
    if (renamedRecords.length === 0) return [...entries]
    const validRecords = filterValidCombos(entries.map(({ record }) => record))
    for (const record of renamedRecords) {
      if (record.movedTo !== undefined) await finishRename(record, record.movedTo)
      else if (record.from !== undefined && !validRecords.includes(record)) await undoRename(record, record.from)
    }
    return filterValidEntries(await records.entries({ fresh: true }))
  }

  const replaceIfUnchanged = (before: ComboRecord, after: ComboRecord) =>
    records.update(before.name, (stored) => (isSameRevision(stored, before) ? withNewRevision(after) : undefined))

  /**
   * Renames a combo. The write that marks the old record commits the rename: earlier writes can be undone, and later ones can be completed afterward.
   */
  async function rename(
    { record: before, order }: StoredEntry<ComboRecord>,
    editedCombo: ComboRecord,
  ): Promise<ComboRecord | undefined> {
    requireStored(before)
    const after = withNewRevision({ ...editedCombo, from: before.name })
    if (!(await records.insert(after.name, after, order))) throw gatewayError('NAME_TAKEN')
    const oldRecord = await replaceIfUnchanged(before, { ...before, movedTo: after.name })
    if (oldRecord) await finishRename(oldRecord, after.name) // otherwise, `finishRenames` removes the new record
    return oldRecord && after
  }

  async function finishRename(oldRecord: ComboRecord, name: string): Promise<void> {
    await records.update(name, ({ from, ...current }) =>
      current.id === oldRecord.id && from === oldRecord.name ? withNewRevision(current) : undefined,
    )
    await records.remove(oldRecord.name, (stored) => isSameRevision(stored, oldRecord))
  }

  /** Undoes a rename. First gives the old record another revision, so the renaming process notices its failure if it is still running. */
  async function undoRename(renamedRecord: ComboRecord, previousName: string): Promise<void> {
    const oldRecord = await records.get(previousName)
    if (
      oldRecord?.id === renamedRecord.id &&
      (oldRecord.movedTo !== undefined || !(await replaceIfUnchanged(oldRecord, oldRecord)))
    )
      return
    await records.remove(renamedRecord.name, (stored) => isSameRevision(stored, renamedRecord))
  }

  return {
    finishRenames,

    async replace(before, after) {
      if (!before) return after === undefined || records.insert(after.name, withNewRevision(after))
      const { name } = before.record
      if (!after) return (await records.remove(name, (stored) => isSameRevision(stored, before.record))) !== undefined
      if (after.name === name) return (await replaceIfUnchanged(before.record, after)) !== undefined
      const renaming = rename(before, after).catch((error: unknown) => {
        if (!isGatewayError(error, 'NAME_TAKEN')) throw error
      })
      return (await renaming) !== undefined
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
        const combos = entries.map(({ record }) => record)
        check(combos)
        const entry = entries.find(hasId(id))
        if (!entry) throw gatewayError('NOT_FOUND', { message: 'Combo not found' })
        const before = entry.record
        const editedCombo = edit(before, combos)
        const after =
          editedCombo.name === before.name
            ? await replaceIfUnchanged(before, editedCombo)
            : await rename(entry, editedCombo)
        return after !== undefined && { before, after }
      }),

    async remove(id) {
      let removed: ComboRecord | undefined
      await retryOnConflict(async () => {
        const record = (await finishRenames()).find(hasId(id))?.record
        if (!record || (removed && isSameRevision(record, removed))) return true // the combo was already removed, or came from an outdated list
        const removal = await records.remove(record.name, (stored) => isSameRevision(stored, record))
        removed = removal?.record ?? removed
        return false
      })
      return removed
    },
  }
}

function filterValidEntries(entries: readonly StoredEntry<ComboRecord>[]): StoredEntry<ComboRecord>[] {
  const validRecords = new Set(filterValidCombos(entries.map(({ record }) => record)))
  return entries.filter(({ record }) => validRecords.has(record))
}

const hasId =
  (id: string) =>
  ({ record }: StoredEntry<ComboRecord>) =>
    record.id === id

const withNewRevision = (record: ComboRecord): ComboRecord => ({ ...record, revision: crypto.randomUUID() })

const isSameRevision = (a: ComboRecord, b: ComboRecord) =>
  a.id === b.id && a.revision === b.revision && a.updatedAt === b.updatedAt
