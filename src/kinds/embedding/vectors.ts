import { fromBase64, toBase64 } from '../../lib/bytes.ts'

/** A vector as numbers, or as the base64 of its 32-bit floats with the lowest byte first. */
export type Vector = readonly number[] | string

/**
 * Is it a vector, and not an empty one? `as`: how it is to be read. A text that is passed on is not looked through, which takes half as long as the
 * rest of a request.
 */
export function isVector(value: unknown, as: 'float' | 'base64' | 'raw'): value is Vector {
  if (typeof value !== 'string')
    return Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'number')
  if (value === '') return false
  return as === 'raw' || (Number.isInteger(widthOf(value)) && (as === 'base64' || BASE64.test(value)))
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

/** How many numbers it has. */
export const widthOf = (vector: Vector): number =>
  typeof vector === 'string' ? Math.floor((withoutPadding(vector) * 3) / 4) / 4 : vector.length

const withoutPadding = (text: string) => text.length - (text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0)

/** The vector as numbers. */
export const asFloats = (vector: Vector): readonly number[] => (typeof vector === 'string' ? unpacked(vector) : vector)

/** The vector as base64. */
export const asBase64 = (vector: Vector): string => (typeof vector === 'string' ? vector : packed(vector))

function packed(numbers: readonly number[]): string {
  const view = new DataView(new ArrayBuffer(numbers.length * 4))
  for (const [at, number] of numbers.entries()) view.setFloat32(at * 4, number, true)
  return toBase64(new Uint8Array(view.buffer))
}

function unpacked(text: string): number[] {
  const bytes = fromBase64(text)
  const view = new DataView(bytes.buffer, bytes.byteOffset)
  return Array.from({ length: widthOf(text) }, (_, at) => view.getFloat32(at * 4, true))
}
