import type { RecordFields, WriteOperation } from '../../src/types/records/record-fields.ts'

/** Lists the allowed input fields of an operation, in the format of error messages. */
export const listFields = (fields: RecordFields, management: WriteOperation): string =>
  Object.entries(fields)
    .filter(([, { inputs }]) => inputs?.[management] !== undefined)
    .map(([name]) => `"${name}"`)
    .join(', ')
