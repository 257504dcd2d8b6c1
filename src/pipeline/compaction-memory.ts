import { createExpiringMap } from '../lib/expiring-map.ts'
import type { RouteTarget } from '../routing/group.ts'
import type { Clock } from '../types.ts'

/** The targets that have no endpoint for compactions, though they speak the format that has one. */
export interface CompactionMemory {
  /** Was the target found to have none within the last hour? */
  isLacking(target: RouteTarget): boolean
  /** Remembers that the target has none. */
  noteLacking(target: RouteTarget): void
}

const KNOWN_MS = 60 * 60 * 1_000
const MAX_TARGETS = 1_000

/** Remembers them in memory. */
export function createCompactionMemory(clock: Pick<Clock, 'now'>): CompactionMemory {
  const lacking = createExpiringMap<true>({ clock, ttlMs: KNOWN_MS, max: MAX_TARGETS })
  return {
    isLacking: (target) => lacking.get(keyOf(target)) === true,
    noteLacking: (target) => lacking.set(keyOf(target), true),
  }
}

const keyOf = ({ connection, model }: RouteTarget) => `${connection.id} ${model}`
