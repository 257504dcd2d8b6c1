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

  async function resolveCollision(collection: Collection, knownShadow: KnownShadow, occupant: SyncItem): Promise<void> {
    const { parked, ...shadow } = knownShadow.shadow
    const table = tables[collection]
    const isParkedKept = shadow.id < occupant.id
    const [loser, winner] = isParkedKept ? ([occupant.id, 'gateway'] as const) : ([shadow.id, 'cloud'] as const)
    await report({ collection, id: loser, kept: winner, at: new Date(clock.now()).toISOString() })
    const scannedOccupant = await scanner.scanRecord({ collection, id: occupant.id })
    if (isSyncProblem(scannedOccupant) || !scannedOccupant.item || scannedOccupant.item.slot !== parked?.slot) return
    const isPaused = [shadow, scannedOccupant.shadow].some(({ active }) => active?.isActive === false)
    const pauseIfNeeded = (record: object) => (isPaused ? { ...record, isActive: false } : record)
    if (isParkedKept) {
      // Keep the shadow unchanged, so pausing the record counts as a change by this side.
      if (!(await table.remove(scannedOccupant.item))) return
      await scanner.scanRecord(scannedOccupant.stateId)
      if (await table.write(undefined, { slot: parked.slot, record: pauseIfNeeded(parked.record) }))
        await shadows.put(collection, shadow, knownShadow)
      return
    }
    const deletedShadow = { ...shadow, hash: null, ...advanceRegister(shadow, 'gateway'), isSeen: false }
    if (!(await shadows.put(collection, deletedShadow, knownShadow))) return
    if (isPaused && scannedOccupant.shadow.active?.isActive)
      await table.write(scannedOccupant.item, {
        slot: scannedOccupant.item.slot,
        record: pauseIfNeeded(scannedOccupant.item.record),
      })
  }

  let hasCollisions = false
  for (const collection of ['combos', 'keys'] as const) {
    await scanner.unpark(collection)
    for (const knownShadow of shadows.listParked(collection)) {
      const slot = knownShadow.shadow.parked?.slot
      const occupant = slot === undefined ? undefined : await tables[collection].readSlot(slot)
      if (!occupant || occupant === 'damaged') continue
      hasCollisions = true
      await resolveCollision(collection, knownShadow, occupant)
    }
  }
  return hasCollisions
}
