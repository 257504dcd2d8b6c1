import { gatewayError } from '../errors.ts'
import type { Entry, Records } from '../store/records.ts'
import type { Clock, Combo } from '../types.ts'
import { present } from './find.ts'
import { timestampAfter } from './time.ts'

/**
 * Combos by id over records by name. A rename writes the new record and then removes the old one, each only if nobody was faster, so
 * that one of two rivals wins and nothing is lost. After a crash in between, two records have one id: the newer `updatedAt` counts, and
 * the next change of any combo removes the other.
 */
export interface ComboRecords {
  /** In the order of creation; `fresh` reads the storage again. */
  all(options?: { fresh?: boolean }): Promise<Combo[]>
  /** `check` sees all others first and throws what speaks against it. Throws `NAME_TAKEN`. */
  add(combo: Combo, check: (others: readonly Combo[]) => void): Promise<void>
  /** Throws `NOT_FOUND` and `NAME_TAKEN`. */
  change(id: string, change: Change): Promise<{ before: Combo; after: Combo }>
  /** `undefined` when there is none. */
  remove(id: string): Promise<Combo | undefined>
}

/** Both see the current state of all, throw what speaks against the change, and may be called again. */
export interface Change {
  /** Comes before it is known whether the combo exists. */
  check(all: readonly Combo[]): void
  /** Gives the combo as it shall be; its `updatedAt` is set for it. */
  edit(current: Combo, all: readonly Combo[]): Combo
}

const MAX_ATTEMPTS = 50

export function createComboRecords(records: Records<Combo>, clock: Clock): ComboRecords {
  /** Current entries of the storage itself, cleared of what crashed renames left. */
  async function settled(): Promise<Entry<Combo>[]> {
    const entries = await records.entries({ fresh: true })
    const survivors = newestById(entries)
    for (const { record: leftover } of entries) {
      const survivor = survivors.get(leftover.id)
      if (!survivor || survivor.record.name === leftover.name) continue
      // Touched first: a rename that is still under way then knows that it counts, and does not take itself back.
      const touched = await put(survivor.record, survivor.record)
      if (!touched) continue
      survivors.set(leftover.id, { ...survivor, record: touched })
      await records.remove(leftover.name, isSame(leftover))
    }
    return [...survivors.values()]
  }

  /** Replaces `before` by `after` under the same name, unless somebody else has changed it. */
  const put = (before: Combo, after: Combo) =>
    records.update(before.name, (current) => (isSame(before)(current) ? touch(after, before) : undefined))

  const touch = (combo: Combo, before: Combo) => ({ ...combo, updatedAt: timestampAfter(clock, before.updatedAt) })

  async function move({ record: before, order }: Entry<Combo>, edited: Combo): Promise<Combo | undefined> {
    const after = touch(edited, before)
    if (!(await records.insert(after.name, after, order))) throw gatewayError('NAME_TAKEN')
    if (await records.remove(before.name, isSame(before))) return after
    const undone = await records.remove(after.name, isSame(after)) // changed or removed meanwhile: look again
    return undone ? undefined : after
  }

  /** Tries again as long as another process is faster. */
  async function retry<T>(attempt: () => Promise<T | undefined>): Promise<T> {
    for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts++) {
      const done = await attempt()
      if (done !== undefined) return done
    }
    throw gatewayError('STORAGE_FAILED', { message: 'The storage does not show its own changes.' })
  }

  return {
    all: async (options) => [...newestById(await records.entries(options)).values()].map(({ record }) => record),

    async add(combo, check) {
      check((await settled()).map(({ record }) => record))
      if (!(await records.insert(combo.name, combo))) throw gatewayError('NAME_TAKEN')
    },

    change: (id, { check, edit }) =>
      retry(async () => {
        const entries = await settled()
        const all = entries.map(({ record }) => record)
        check(all)
        const entry = present(
          entries.find(({ record }) => record.id === id),
          'Combo',
        )
        const before = entry.record
        const edited = edit(before, all)
        const after = edited.name === before.name ? await put(before, edited) : await move(entry, edited)
        return after && { before, after }
      }),

    async remove(id) {
      let removed: Combo | undefined
      return retry(async () => {
        const entry = (await settled()).find(({ record }) => record.id === id)
        if (!entry || (removed && isSame(removed)(entry.record))) return { removed } // or the storage's list lags behind
        removed = (await records.remove(entry.record.name, (current) => current.id === id))?.record ?? removed
        return undefined
      }).then((done) => done.removed)
    },
  }
}

const isSame = (one: Combo) => (other: Combo) => one.id === other.id && one.updatedAt === other.updatedAt

/** Of each id the newest entry, in the order of the entries. */
function newestById(entries: readonly Entry<Combo>[]): Map<string, Entry<Combo>> {
  const newest = new Map<string, Entry<Combo>>()
  for (const entry of entries) {
    const other = newest.get(entry.record.id)
    if (!other || isNewer(entry.record, other.record)) newest.set(entry.record.id, entry)
  }
  return newest
}

const isNewer = (one: Combo, other: Combo) =>
  one.updatedAt === other.updatedAt ? one.name > other.name : one.updatedAt > other.updatedAt
