import { gatewayError } from '../errors.ts'

/** Returns whether a record was defined in code. */
export const isDefinedInCode = (record: object): boolean => 'source' in record && record.source === 'code'

/** Throws `DEFINED_IN_CODE` for a record that was defined in code. */
export function requireStored(record: object): void {
  if (isDefinedInCode(record)) throw gatewayError('DEFINED_IN_CODE')
}
