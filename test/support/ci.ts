import process from 'node:process'

/** Whether the tests run in CI. CI runs all cases. Locally, some of the cases find almost as much in a fraction of the time. */
export const isCi = /^(?:1|true)$/.test(process.env.CI ?? '')

/** Returns the full number of runs in CI, and a quarter of it locally. */
export const times = (whole: number): number => (isCi ? whole : Math.ceil(whole / 4))

/** Whether the tests try all their cases, as they do every week with a new seed (.github/workflows/random-cases.yml). */
export const isFull = process.env.SIGNALBOX_TEST_RUNS === 'full'

/**
 * Returns the number of random cases: `local` on a developer's machine, 15 % of `full` in CI, whose seed never changes, and `full` if the tests try
 * all cases.
 */
export const randomCases = (full: number, local: number): number => {
  if (isFull) return full
  return isCi ? Math.ceil(full * 0.15) : local
}
