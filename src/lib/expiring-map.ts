import type { Clock } from '../types.ts'
import { makeRoom } from './make-room.ts'

/** Values that are forgotten some time after they were set. */
export interface ExpiringMap<V> {
  get(key: string): V | undefined
  set(key: string, value: V): void
}

/** Keeps each value for `ttlMs`, and the latest `max` of them. */
export function createExpiringMap<V>({
  clock,
  ttlMs,
  max,
}: {
  clock: Pick<Clock, 'now'>
  ttlMs: number
  max: number
}): ExpiringMap<V> {
  const entries = new Map<string, { value: V; until: number }>()
  return {
    get(key) {
      const entry = entries.get(key)
      return entry && entry.until > clock.now() ? entry.value : undefined
    },
    set(key, value) {
      if (!entries.delete(key)) makeRoom(entries, max)
      entries.set(key, { value, until: clock.now() + ttlMs }) // last in the map, which makeRoom empties from the front
    },
  }
}
