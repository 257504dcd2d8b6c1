import type { Door, RecordFields } from '../../src/types/records/record-fields.ts'

/** The fields that an operation's input may have, as error messages list them. */
export const listFields = (fields: RecordFields, door: Door): string =>
  Object.entries(fields)
    .filter(([, { given }]) => given?.[door] !== undefined)
    .map(([name]) => `"${name}"`)
    .join(', ')
