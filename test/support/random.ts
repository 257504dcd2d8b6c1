/** A seeded random number generator. Include the seed in every failure message. */
export interface Random {
  readonly seed: number
  /** Returns a number from 0 up to, but not including, 1. */
  next(): number
  /** Returns an integer from 0 up to, but not including, `end`. */
  below(end: number): number
}

/** Creates a mulberry32 generator. Default: a random seed. */
export function createRandom(seed = Math.floor(Math.random() * 2 ** 32)): Random {
  let state = seed
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return { seed, next, below: (end) => Math.floor(next() * end) }
}
