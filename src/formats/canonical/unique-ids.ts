/** Makes every id one that was neither `taken` nor made before: `a`, then `a_2`. */
export function createUniqueIds(taken: Iterable<string> = []): (id: string) => string {
  const seen = new Set(taken)
  return (id) => {
    let found = id
    for (let count = 2; seen.has(found); count++) found = `${id}_${count}`
    seen.add(found)
    return found
  }
}
