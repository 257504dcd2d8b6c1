import process from 'node:process'

/** Whether the tests run in continuous integration, where they try more cases than on a developer's machine. */
export const isCi = /^(?:1|true)$/.test(process.env.CI ?? '')

/** Whether the tests try all their cases, like in the weekly run with a new seed (.github/workflows/random-cases.yml). */
export const isFull = process.env.SIGNALBOX_TEST_RUNS === 'full'

/** Returns half of `full` in continuous integration, a quarter of it locally, or `full` if the tests try all cases. */
export const times = (full: number): number => (isFull ? full : Math.ceil(full / (isCi ? 2 : 4)))

/**
 * Returns the number of random cases: `local` on a developer's machine, 15% of `full` in CI, where the seed never changes, or `full` if the tests try
 * all cases.
 */
export const randomCases = (full: number, local: number): number => {
  if (isFull) return full
  return isCi ? Math.ceil(full * 0.15) : local
}
