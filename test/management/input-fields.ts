import type { RecordFields, WriteOperation } from '../../src/types/records/record-fields.ts'

/** The fields that an operation's input may have, as error messages list them. */
export const listFields = (fields: RecordFields, management: WriteOperation): string =>
  Object.entries(fields)
    .filter(([, { inputs }]) => inputs?.[management] !== undefined)
    .map(([name]) => `"${name}"`)
    .join(', ')
