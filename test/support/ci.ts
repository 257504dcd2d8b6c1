import process from 'node:process'

/** Whether the tests run in continuous integration. CI runs all cases; locally, a part of them finds almost as much in a fraction of the time. */
export const isCi = /^(?:1|true)$/.test(process.env.CI ?? '')

/** Returns the full number of runs in continuous integration, and a quarter of it locally. */
export const times = (whole: number): number => (isCi ? whole : Math.ceil(whole / 4))

/**
 * Returns the number of random cases: `local` on a developer's machine, three tenths of `full` in continuous integration, whose seed never changes, and
 * `full` with `SIGNALBOX_TEST_RUNS=full`, as every week with a new seed (.github/workflows/random-cases.yml).
 */
export const randomCases = (full: number, local: number): number => {
  if (process.env.SIGNALBOX_TEST_RUNS === 'full') return full
  return isCi ? Math.ceil(full * 0.3) : local
}
