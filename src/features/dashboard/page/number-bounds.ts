import type { NumberShape } from '../../../types/records/shapes.ts'

/** Returns the attributes of a number input for this shape. If the shape excludes the minimum itself, only the API rejects it. */
export const getNumberBounds = ({ min, above, max, isInteger }: NumberShape) =>
  ({ min: min ?? above, max, step: isInteger ? 1 : 'any' }) as const
