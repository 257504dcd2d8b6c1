import { makeRoom } from '../lib/make-room.ts'
import type { RouteTarget } from '../routing/group.ts'
import type { Clock } from '../types.ts'

/** Which targets have no endpoint for compactions, though they speak the format that has one. */
export interface CompactionMemory {
  /** Has the target been found to have none, within the last hour? */
  isLacking(target: RouteTarget): boolean
  lacks(target: RouteTarget): void
}

const KNOWN_MS = 60 * 60 * 1_000
const MAX_TARGETS = 1_000

export function createCompactionMemory(clock: Pick<Clock, 'now'>): CompactionMemory {
  const until = new Map<string, number>()
  return {
    isLacking: (target) => (until.get(keyOf(target)) ?? 0) > clock.now(),
    lacks(target) {
      makeRoom(until, MAX_TARGETS)
      until.set(keyOf(target), clock.now() + KNOWN_MS)
    },
  }
}

const keyOf = ({ connection, model }: RouteTarget) => `${connection.id} ${model}`
