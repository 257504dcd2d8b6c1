import { addSlot, type Book, type InstanceEntry, isEmptyEntry, type MinuteSlot } from './book.ts'
import { getWindowStart, getWindowStarts, type Minute } from './windows.ts'

/**
 * How long an instance's entry must stay unchanged before the instance is treated as lost, in ms. An instance with reservations writes every 15 s.
 */
export const LOST_MS = 45_000
/** An instance that has been lost for this long, in ms, is assumed not to come back. */
const LOST_ENTRY_TTL_MS = 3_600_000
/**
 * Maximum number of entries to keep for instances that aren't expected back, in case they do return. If there are more, their reservations are
 * merged.
 */
const MAX_LOST_ENTRIES = 32
/** How long to keep an instance's entry when it has no reservations, in ms, in case the instance still awaits the result of a write. */
const IDLE_TTL_MS = 600_000
/** Replaces `IDLE_TTL_MS` if there are more than `MAX_IDLE_INSTANCES` such entries, for example because each request runs on its own instance. */
const CROWDED_IDLE_TTL_MS = 60_000
const MAX_IDLE_INSTANCES = 16
/** Maximum number of slots to keep for instances that aren't expected back. If there are more, they are merged. */
const MAX_LOST_SLOTS = 40

/** Tracks which of a scope's other instances are still running. */
export interface LostInstanceTracker {
  /** Call this at time `now` (epoch ms) with each book that this instance reads. */
  observe(book: Book, now: number): void
  isLost(id: string, now: number): boolean
  /** Returns how long an instance's entry has been unchanged, in ms. Returns 0 for this instance. */
  getUnchangedMs(id: string, now: number): number
  /** Returns how long this instance has itself observed the entry unchanged, in ms. */
  getWatchedMs(id: string, now: number): number
}

/**
 * Creates a tracker. The age of an entry seen for the first time is based on its beat, by the other instance's clock. From then on, only this
 * instance's clock counts.
 */
export function createLostInstanceTracker(ownId: string): LostInstanceTracker {
  let observations = new Map<string, { sequence: number; since: number; seenAt: number }>()
  const getAge = (id: string, now: number, from: 'since' | 'seenAt') => now - (observations.get(id)?.[from] ?? now)
  return {
    observe({ entries }, now) {
      const nextObservations: typeof observations = new Map()
      for (const [id, { sequence, beat }] of entries) {
        if (id === ownId) continue
        const previousObservation = observations.get(id)
        if (!previousObservation)
          nextObservations.set(id, { sequence, since: Math.min(now, beat * 1_000), seenAt: now })
        else if (previousObservation.sequence !== sequence)
          nextObservations.set(id, { sequence, since: now, seenAt: now })
        else
          nextObservations.set(id, {
            sequence,
            since: Math.min(now, previousObservation.since),
            seenAt: Math.min(now, previousObservation.seenAt),
          })
      }
      observations = nextObservations
    },
    isLost: (id, now) => getAge(id, now, 'since') >= LOST_MS,
    getUnchangedMs: (id, now) => getAge(id, now, 'since'),
    getWatchedMs: (id, now) => getAge(id, now, 'seenAt'),
  }
}

/** Returns a new map with the entries that are still needed, and the reservations of instances that aren't expected back. */
export function pruneBook(
  { entries, gone }: Book,
  instanceTracker: LostInstanceTracker,
  { now, minute }: { now: number; minute: Minute },
): { entries: Map<string, InstanceEntry>; gone: readonly MinuteSlot[] } {
  const remainingEntries = new Map(entries)
  if (entries.size < 2) return { entries: remainingEntries, gone }
  const isExpired = (id: string, ttlMs: number) =>
    instanceTracker.getUnchangedMs(id, now) >= ttlMs && instanceTracker.getWatchedMs(id, now) >= LOST_MS
  const lostEntries: Array<[string, InstanceEntry]> = []
  let idleCount = 0
  for (const [id, entry] of entries) {
    if (entry.lostAs !== 'open') {
      if (isExpired(id, LOST_ENTRY_TTL_MS)) remainingEntries.delete(id)
    } else if (!isEmptyEntry(entry)) {
      if (instanceTracker.getUnchangedMs(id, now) >= LOST_ENTRY_TTL_MS) lostEntries.push([id, entry])
    } else if (
      ++idleCount > MAX_IDLE_INSTANCES
        ? instanceTracker.getUnchangedMs(id, now) >= CROWDED_IDLE_TTL_MS
        : isExpired(id, IDLE_TTL_MS)
    )
      remainingEntries.delete(id)
  }
  if (lostEntries.length <= MAX_LOST_ENTRIES) return { entries: remainingEntries, gone }
  let lostSlots = gone
  for (const [id, { held }] of lostEntries) {
    remainingEntries.delete(id)
    for (const [created, ...amounts] of held)
      lostSlots = addSlot(lostSlots, [getWindowStart('day', created), ...amounts])
  }
  return {
    entries: remainingEntries,
    gone: lostSlots.length > MAX_LOST_SLOTS ? mergeSlots(lostSlots, minute) : lostSlots,
  }
}

/** Merges the slots that count only toward the `total` window. */
function mergeSlots(slots: readonly MinuteSlot[], minute: Minute): readonly MinuteSlot[] {
  const [, , , week = 0, month = 0] = getWindowStarts(minute)
  let mergedSlots: readonly MinuteSlot[] = []
  for (const [day, ...amounts] of slots)
    mergedSlots = addSlot(mergedSlots, [day < Math.min(week, month) ? 0 : day, ...amounts])
  return mergedSlots
}
