import process from 'node:process'

/** Continuous integration makes whole figures; at a desk a part of them finds nearly the same in a fraction of the time. */
export const isCi = /^(?:1|true)$/.test(process.env.CI ?? '')

/** So often in continuous integration, a quarter as often at a desk. */
export const times = (whole: number): number => (isCi ? whole : Math.ceil(whole / 4))
