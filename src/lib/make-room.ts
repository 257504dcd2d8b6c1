/** Removes the oldest entry of a map that has `max` entries, and returns its value. For maps whose keys clients choose. */
export function makeRoom<V>(map: Map<unknown, V>, max: number): V | undefined {
  if (map.size < max) return undefined
  for (const [key, oldest] of map) {
    map.delete(key)
    return oldest
  }
  return undefined
}
