import { createLane, type Lane, type LaneTerms } from './lane.ts'

/** The connections to all providers. */
export interface Lanes {
  /** Returns the idle connection to the origin that was used last, or a new one. */
  take(origin: string): Lane
  /** Closes all connections. */
  close(): void
}

/**
 * Keeps the connections to each origin; their number follows the load. One undici client each instead of its pool, because a
 * pool hides which connection serves which call, and so can neither hold back nor end just that one.
 */
export function createLanes(terms: LaneTerms): Lanes {
  const idle = new Map<string, Lane[]>()
  const all = new Set<Lane>()

  function open(origin: string, free: Lane[]): Lane {
    const lane = createLane(origin, terms, {
      onFree: () => void free.push(lane),
      onGone() {
        all.delete(lane)
        const at = free.indexOf(lane)
        if (at >= 0) free.splice(at, 1)
      },
    })
    all.add(lane)
    return lane
  }

  return {
    take(origin) {
      const free = idle.get(origin) ?? []
      if (free.length === 0) idle.set(origin, free)
      const lane = free.pop() ?? open(origin, free)
      lane.claim()
      return lane
    },
    close() {
      for (const lane of [...all]) lane.drop()
    },
  }
}
