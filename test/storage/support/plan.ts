/** A planned write of a process that will be killed. Its number tells the test what was written. */
export interface PlannedWrite {
  readonly key: string
  /** `undefined` if the key is deleted. */
  readonly value: string | undefined
}

/** The number of keys. This many consecutive writes change each key once. */
export const KEYS = 200

/** Returns the planned write with this number. All writes together are about 200 kB. */
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
