import type { NumberShape } from '../../../types/records/shapes.ts'

/** Returns the attributes of a number input for this shape. If the shape excludes the minimum itself, only the API rejects it. */
export const getNumberBounds = ({ min, above, max, isWhole }: NumberShape) =>
  ({ min: min ?? above, max, step: isWhole ? 1 : 'any' }) as const
