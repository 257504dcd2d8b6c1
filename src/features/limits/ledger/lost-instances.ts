import { addSlot, type Book, type InstanceEntry, isEmptyEntry, type MinuteSlot } from './book.ts'
import { getWindowStart, getWindowStarts, type Minute } from './windows.ts'

/**
 * How long an instance's entry must stay unchanged before the instance is treated as lost, in ms. An instance with reservations writes every 15 s.
 */
export const LOST_MS = 45_000
/** An instance that has been lost for this long, in ms, is assumed not to come back. */
const GONE_MS = 3_600_000
/**
 * Maximum number of entries to keep for instances that aren't expected back, in case they do return. If there are more, their reservations are
 * merged.
 */
const MAX_GONE = 32
/** How long to keep an instance's entry when it has no reservations, in ms, in case the instance still awaits the result of a write. */
const IDLE_MS = 600_000
/** Replaces `IDLE_MS` if there are more than `MAX_IDLE_INSTANCES` such entries, for example because each request runs on its own instance. */
const MANY_IDLE_MS = 60_000
const MAX_IDLE_INSTANCES = 16
/** Maximum number of slots to keep for instances that aren't expected back. If there are more, they are merged. */
const MAX_SLOTS = 40

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
export function createLostInstanceTracker(self: string): LostInstanceTracker {
  let seen = new Map<string, { sequence: number; since: number; seenAt: number }>()
  const getAge = (id: string, now: number, from: 'since' | 'seenAt') => now - (seen.get(id)?.[from] ?? now)
  return {
    observe({ entries }, now) {
      const next: typeof seen = new Map()
      for (const [id, { sequence, beat }] of entries) {
        if (id === self) continue
        const previous = seen.get(id)
        if (!previous) next.set(id, { sequence, since: Math.min(now, beat * 1_000), seenAt: now })
        else if (previous.sequence !== sequence) next.set(id, { sequence, since: now, seenAt: now })
        else next.set(id, { sequence, since: Math.min(now, previous.since), seenAt: Math.min(now, previous.seenAt) })
      }
      seen = next
    },
    isLost: (id, now) => getAge(id, now, 'since') >= LOST_MS,
    getUnchangedMs: (id, now) => getAge(id, now, 'since'),
    getWatchedMs: (id, now) => getAge(id, now, 'seenAt'),
  }
}

/** Returns a new map with the entries that are still needed, and the reservations of instances that aren't expected back. */
export function pruneBook(
  { entries, gone }: Book,
  observation: LostInstanceTracker,
  { now, minute }: { now: number; minute: Minute },
): { entries: Map<string, InstanceEntry>; gone: readonly MinuteSlot[] } {
  const remaining = new Map(entries)
  if (entries.size < 2) return { entries: remaining, gone }
  const isOver = (id: string, ms: number) =>
    observation.getUnchangedMs(id, now) >= ms && observation.getWatchedMs(id, now) >= LOST_MS
  const lostEntries: Array<[string, InstanceEntry]> = []
  let idle = 0
  for (const [id, entry] of entries) {
    if (entry.lostAs !== 'open') {
      if (isOver(id, GONE_MS)) remaining.delete(id)
    } else if (!isEmptyEntry(entry)) {
      if (observation.getUnchangedMs(id, now) >= GONE_MS) lostEntries.push([id, entry])
    } else if (++idle > MAX_IDLE_INSTANCES ? observation.getUnchangedMs(id, now) >= MANY_IDLE_MS : isOver(id, IDLE_MS))
      remaining.delete(id)
  }
  if (lostEntries.length <= MAX_GONE) return { entries: remaining, gone }
  let slots = gone
  for (const [id, { held }] of lostEntries) {
    remaining.delete(id)
    for (const [created, ...amounts] of held) slots = addSlot(slots, [getWindowStart('day', created), ...amounts])
  }
  return { entries: remaining, gone: slots.length > MAX_SLOTS ? mergeSlots(slots, minute) : slots }
}

/** Merges the slots that count only toward the `total` window. */
function mergeSlots(slots: readonly MinuteSlot[], minute: Minute): readonly MinuteSlot[] {
  const [, , , week = 0, month = 0] = getWindowStarts(minute)
  let result: readonly MinuteSlot[] = []
  for (const [day, ...amounts] of slots) result = addSlot(result, [day < Math.min(week, month) ? 0 : day, ...amounts])
  return result
}
