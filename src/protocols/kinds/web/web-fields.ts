import type { Fields } from '../../formats/canonical/canonical-fields.ts'
import type { Warnings } from '../../formats/canonical/canonical-warnings.ts'

/** Reads an integer in a range, including both ends. */
export function readInteger(
  fields: Fields,
  name: string,
  [min, max]: readonly [number, number],
  warnings: Warnings,
): number | undefined {
  const value = fields.number(name)
  if (value === undefined || (Number.isInteger(value) && value >= min && value <= max)) return value
  return warnings.reject(fields.getPath(name), `must be a whole number from ${min} to ${max}.`)
}
