/**
 * Adds the transitions to the table of an Aho-Corasick automaton for characters that don't continue a word. They lead to the longest word that may have
 * started later: the fallback. Returns the fallback of each state, and the states in which a word ends.
 */
export function linkFallbacks(table: Int32Array, width: number, endsByState: ReadonlyMap<number, unknown>) {
  const fallbacks = new Map<number, number>()
  const isEnd = new Set<number>()
  const queue = [...table.subarray(1, width)].filter((state) => state !== 0)
  for (let head = 0; head < queue.length; head++) {
    const state = queue[head] ?? 0
    const fallback = fallbacks.get(state) ?? 0
    if (endsByState.has(state) || isEnd.has(fallback)) isEnd.add(state)
    for (let column = 1; column < width; column++) {
      const next = table[state + column] ?? 0
      const other = table[fallback + column] ?? 0
      if (next === state) continue
      if (next === 0) table[state + column] = other
      else {
        fallbacks.set(next, other)
        queue.push(next)
      }
    }
  }
  return { fallbacks, isEnd }
}
