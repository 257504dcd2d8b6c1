/** A planned write by a process that will be killed. The test can tell from its number what was written. */
export interface PlannedWrite {
  readonly key: string
  /** The value to write, or `undefined` to delete the key. */
  readonly value: string | undefined
}

/** The number of keys. Each run of this many consecutive writes changes every key once. */
export const KEYS = 200

/** Returns the planned write with this number. All keys' values together take about 200 kB. */
export function plannedWrite(number: number): PlannedWrite {
  const key = `key/${(number * 7) % KEYS}`
  if ((number * 2_654_435_761) % 11 === 3) return { key, value: undefined }
  return {
    key,
    value: `${number}:${String(number * 7_919)
      .repeat(1_000)
      .slice(0, 1_150)}`,
  }
}
