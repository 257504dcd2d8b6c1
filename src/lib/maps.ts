import type { Clock } from '../types.ts'

/** Removes the oldest entry of a map that has `max` entries, and returns its value. For maps whose keys clients choose. */
export function evictOldest<V>(map: Map<unknown, V>, max: number): V | undefined {
  if (map.size < max) return undefined
  for (const [key, oldest] of map) {
    map.delete(key)
    return oldest
  }
  return undefined
}

/** A map whose values expire some time after they were set. */
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
      if (!entries.delete(key)) evictOldest(entries, max)
      entries.set(key, { value, until: clock.now() + ttlMs }) // now the last entry of the map; `evictOldest` removes the first
    },
  }
}

/** The own entry of a table, not an inherited member such as `constructor`. For names that come from clients or providers. */
export const entryOf = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined
