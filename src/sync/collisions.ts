import type { Clock } from '../types.ts'
import type { MirroredItem } from './forms.ts'
import { changedRegister } from './merge.ts'
import type { Collection } from './protocol.ts'
import { isUnmirrored, type Scanner } from './scanner.ts'
import type { KnownShadow } from './shadows.ts'
import type { Conflict } from './types.ts'

/**
 * Settles, at home, records that cannot be beside each other: combos with one name, keys with one value. The one with the smaller id stays, and is
 * paused if the other was; the other is deleted. Each but one is parked, and came first here: the one in its place came from the cloud. Resolves to
 * whether there were any.
 */
export async function settleCollisions({
  scanner,
  clock,
  report,
}: {
  scanner: Scanner
  clock: Pick<Clock, 'now'>
  report(conflict: Conflict): Promise<void>
}): Promise<boolean> {
  const { tables, shadows } = scanner

  async function settle(collection: Collection, known: KnownShadow, there: MirroredItem): Promise<void> {
    const { parked, ...shadow } = known.shadow
    const table = tables[collection]
    const isParkedKept = shadow.id < there.id
    const [loser, kept] = isParkedKept ? ([there.id, 'home'] as const) : ([shadow.id, 'cloud'] as const)
    await report({ collection, id: loser, kept, at: new Date(clock.now()).toISOString() })
    const other = await scanner.look({ collection, id: there.id })
    if (isUnmirrored(other) || !other.item || other.item.slot !== parked?.slot) return
    const isPaused = [shadow, other.shadow].some(({ active }) => active?.isActive === false)
    const pause = (record: object) => (isPaused ? { ...record, isActive: false } : record)
    if (isParkedKept) {
      // The record is put back as it was, and what is paused then is a change of this side.
      if (!(await table.remove(other.item))) return
      await scanner.look(other.where)
      if (await table.write(undefined, { slot: parked.slot, record: pause(parked.record) }))
        await shadows.put(collection, shadow, known)
      return
    }
    const deleted = { ...shadow, hash: null, ...changedRegister(shadow, 'home'), isSeen: false }
    if (!(await shadows.put(collection, deleted, known))) return
    if (isPaused && other.shadow.active?.isActive)
      await table.write(other.item, { slot: other.item.slot, record: pause(other.item.record) })
  }

  let hasAny = false
  for (const collection of ['combos', 'keys'] as const) {
    await scanner.unpark(collection)
    for (const known of shadows.parked(collection)) {
      const slot = known.shadow.parked?.slot
      const there = slot === undefined ? undefined : await tables[collection].at(slot)
      if (!there || there === 'damaged') continue
      hasAny = true
      await settle(collection, known, there)
    }
  }
  return hasAny
}
