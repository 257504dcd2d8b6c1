import process from 'node:process'

/** Whether the tests run in continuous integration. CI runs all cases; locally, a part of them finds almost as much in a fraction of the time. */
export const isCi = /^(?:1|true)$/.test(process.env.CI ?? '')

/** Returns the full number of runs in continuous integration, and a quarter of it locally. */
export const times = (whole: number): number => (isCi ? whole : Math.ceil(whole / 4))
