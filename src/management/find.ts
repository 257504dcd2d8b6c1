import { gatewayError } from '../errors.ts'
import type { Records } from '../store/records.ts'
import type { Entry } from '../store/stored-records.ts'

/** The first record that passes; before it is said to be missing, the storage is read again. Throws `NOT_FOUND`: `<what> not found`. */
export async function findRecord<T>(
  records: Records<T>,
  what: string,
  test: (record: T) => boolean,
): Promise<Entry<T>> {
  const passes = (entry: Entry<T>) => test(entry.record)
  const found = (await records.entries()).find(passes) ?? (await records.entries({ fresh: true })).find(passes)
  return present(found, what)
}

/** The record; throws `NOT_FOUND`, `<what> not found`, when there is none (any more). */
export function present<T>(record: T | undefined, what: string): T {
  if (record === undefined) throw gatewayError('NOT_FOUND', { message: `${what} not found` })
  return record
}
