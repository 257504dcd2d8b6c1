/** Takes the oldest entry out of a map that is full and answers its value. Maps need a limit whose keys clients choose. */
export function makeRoom<V>(map: Map<unknown, V>, max: number): V | undefined {
  if (map.size < max) return undefined
  for (const [key, oldest] of map) {
    map.delete(key)
    return oldest
  }
  return undefined
}
