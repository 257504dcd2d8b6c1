/** Where each round-robin combo goes on, by combo name (spec.md, Combos: rules for PUT 4 and DELETE). */
export interface Rotation {
  /** The index to start at, and moves on by one. */
  next(combo: string, length: number): number
  /** The next request starts at the first model again. */
  reset(combo: string): void
}

export function createRotation(): Rotation {
  const turns = new Map<string, number>()
  return {
    next(combo, length) {
      const turn = turns.get(combo) ?? 0
      turns.set(combo, turn + 1)
      return turn % length
    },
    reset: (combo) => void turns.delete(combo),
  }
}
