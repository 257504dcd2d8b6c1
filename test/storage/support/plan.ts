/** The writes of the processes that are killed, by number, so that the one who looks afterwards knows what each was. */
export interface PlannedWrite {
  readonly key: string
  /** `undefined`: the key is deleted. */
  readonly value: string | undefined
}

/** How many keys there are; a run of so many writes touches each of them once. */
export const KEYS = 200

/** About 200 kB in all. */
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
