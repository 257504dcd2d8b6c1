import { gatewayError } from '../errors.ts'

/** A record of the storage that cannot be read as it stands. */
export interface DamagedRecord {
  /** Its storage key. */
  key: string
  /** What is wrong with it and how it is read, or that it is passed over. */
  problem: string
}

/** What is known to be damaged. */
export interface DamageLog {
  /** Records the problem of a record, `undefined` when it is good or gone. A new problem goes to `onError`. */
  saw(key: string, problem: string | undefined): void
  /** Records that these are all the keys below a prefix: the problems of other records there are forgotten. */
  sawAll(prefix: string, keys: ReadonlySet<string>): void
  /** In the order of their keys. */
  list(): DamagedRecord[]
}

export function createDamageLog(onError: (error: unknown) => void): DamageLog {
  const problems = new Map<string, string>()
  return {
    saw(key, problem) {
      if (problem === undefined) problems.delete(key)
      else if (problems.get(key) !== problem) {
        problems.set(key, problem)
        onError(
          gatewayError('RECORD_DAMAGED', { message: `The record ${key} of the storage ${problem}.`, data: { key } }),
        )
      }
    },
    sawAll(prefix, keys) {
      for (const key of problems.keys()) if (key.startsWith(prefix) && !keys.has(key)) problems.delete(key)
    },
    list: () => [...problems].map(([key, problem]) => ({ key, problem })).sort((a, b) => (a.key < b.key ? -1 : 1)),
  }
}
