/** Makes every id one that was neither `taken` nor made before: `a`, then `a_2`. In linear time, since clients choose ids. */
export function createUniqueIds(taken: Iterable<string> = []): (id: string) => string {
  const seen = new Set(taken)
  const counts = new Map<string, number>() // where the search for the next one of an id begins
  return (id) => {
    let found = id
    for (let count = counts.get(id) ?? 2; seen.has(found); count++) {
      found = `${id}_${count}`
      counts.set(id, count + 1)
    }
    seen.add(found)
    return found
  }
}
