/** Distinct keys in ascending code-unit order. */
export interface OrderedKeys {
  /** Adds a key, which must not exist yet. */
  add(key: string): void
  /** Removes a key, which must exist. */
  remove(key: string): void
  /** Returns the keys from `start` on, inclusive. */
  from(start: string): Iterable<string>
}

const MAX_RUN_LENGTH = 512

/** Keeps the keys in short runs, so a change moves only a few keys, regardless of the total. */
export function createOrderedKeys(keys: Iterable<string>): OrderedKeys {
  const sorted = [...keys].sort()
  const runs: string[][] = []
  for (let index = 0; index < sorted.length; index += MAX_RUN_LENGTH / 2)
    runs.push(sorted.slice(index, index + MAX_RUN_LENGTH / 2))

  /** Finds the last run that starts at or before the key, or else the first run. */
  const findRun = (key: string) =>
    Math.max(0, findFirstIndex(runs.length, (index) => (runs[index]?.[0] ?? '') > key) - 1)
  const findIndex = (run: readonly string[], key: string) =>
    findFirstIndex(run.length, (index) => (run[index] ?? '') >= key)

  return {
    add(key) {
      const runIndex = findRun(key)
      const run = runs[runIndex]
      if (!run) return void runs.push([key])
      run.splice(findIndex(run, key), 0, key)
      if (run.length > MAX_RUN_LENGTH) runs.splice(runIndex + 1, 0, run.splice(MAX_RUN_LENGTH / 2))
    },

    remove(key) {
      const runIndex = findRun(key)
      const run = runs[runIndex]
      if (!run) return
      run.splice(findIndex(run, key), 1)
      if (run.length === 0) runs.splice(runIndex, 1)
    },

    *from(start) {
      const first = findRun(start)
      for (let index = first; index < runs.length; index++) {
        const run = runs[index] ?? []
        for (let position = index === first ? findIndex(run, start) : 0; position < run.length; position++)
          yield run[position] ?? ''
      }
    },
  }
}

/** Binary-searches for the lowest index below `end` at which `predicate` returns true. Returns `end` if there is none. */
function findFirstIndex(end: number, predicate: (index: number) => boolean): number {
  let low = 0
  let high = end
  while (low < high) {
    const middle = (low + high) >>> 1
    if (predicate(middle)) high = middle
    else low = middle + 1
  }
  return low
}
