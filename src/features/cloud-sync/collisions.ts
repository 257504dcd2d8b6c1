import type { Clock } from '../../types.ts'
import { advanceRegister } from './merge.ts'
import type { Collection } from './protocol.ts'
import { isSyncProblem, type Scanner } from './scanner.ts'
import type { KnownShadow } from './shadows.ts'
import type { SyncItem } from './sync-codecs.ts'
import type { Conflict } from './sync-types.ts'

/**
 * Resolves collisions on the gateway: combos with the same name, or keys with the same value. Keeps the record with the smaller ID and deletes the
 * other; the kept record is paused if either one was. The parked record is the gateway's own; the record in its slot came from the cloud. Resolves to
 * whether there were any collisions.
 */
export async function resolveCollisions({
  scanner,
  clock,
  report,
}: {
  scanner: Scanner
  clock: Pick<Clock, 'now'>
  report(conflict: Conflict): Promise<void>
}): Promise<boolean> {
  const { tables, shadows } = scanner

  async function resolve(collection: Collection, knownShadow: KnownShadow, occupant: SyncItem): Promise<void> {
    const { parked, ...shadow } = knownShadow.shadow
    const table = tables[collection]
    const isParkedKept = shadow.id < occupant.id
    const [loser, winner] = isParkedKept ? ([occupant.id, 'gateway'] as const) : ([shadow.id, 'cloud'] as const)
    await report({ collection, id: loser, kept: winner, at: new Date(clock.now()).toISOString() })
    const other = await scanner.scanRecord({ collection, id: occupant.id })
    if (isSyncProblem(other) || !other.item || other.item.slot !== parked?.slot) return
    const isPaused = [shadow, other.shadow].some(({ active }) => active?.isActive === false)
    const pause = (record: object) => (isPaused ? { ...record, isActive: false } : record)
    if (isParkedKept) {
      // Keep the shadow unchanged, so pausing the record counts as a change by this side.
      if (!(await table.remove(other.item))) return
      await scanner.scanRecord(other.where)
      if (await table.write(undefined, { slot: parked.slot, record: pause(parked.record) }))
        await shadows.put(collection, shadow, knownShadow)
      return
    }
    const deleted = { ...shadow, hash: null, ...advanceRegister(shadow, 'gateway'), isSeen: false }
    if (!(await shadows.put(collection, deleted, knownShadow))) return
    if (isPaused && other.shadow.active?.isActive)
      await table.write(other.item, { slot: other.item.slot, record: pause(other.item.record) })
  }

  let hasAny = false
  for (const collection of ['combos', 'keys'] as const) {
    await scanner.unpark(collection)
    for (const shadow of shadows.parked(collection)) {
      const slot = shadow.shadow.parked?.slot
      const existing = slot === undefined ? undefined : await tables[collection].readSlot(slot)
      if (!existing || existing === 'damaged') continue
      hasAny = true
      await resolve(collection, shadow, existing)
    }
  }
  return hasAny
}
