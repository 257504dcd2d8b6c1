import { fromBase64, toBase64 } from '../../../lib/bytes.ts'

/** A vector as numbers, or as the base64 of its little-endian 32-bit floats. */
export type Vector = readonly number[] | string

/**
 * Returns whether a value is a non-empty vector. `encoding` is the client's encoding. Base64 that is passed through isn't validated, because validation
 * would take half as long as the rest of the request.
 */
export function isVector(value: unknown, encoding: 'float' | 'base64' | 'raw'): value is Vector {
  if (typeof value !== 'string')
    return Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'number')
  if (value === '') return false
  return (
    encoding === 'raw' ||
    (Number.isInteger(getDimensions(value)) && (encoding === 'base64' || BASE64_PATTERN.test(value)))
  )
}

const BASE64_PATTERN = /^[A-Za-z0-9+/]+={0,2}$/

export const getDimensions = (vector: Vector): number =>
  typeof vector === 'string' ? Math.floor((getUnpaddedLength(vector) * 3) / 4) / 4 : vector.length

const getUnpaddedLength = (text: string) => text.length - (text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0)

export const toFloats = (vector: Vector): readonly number[] =>
  typeof vector === 'string' ? unpackFloats(vector) : vector

export const toBase64Vector = (vector: Vector): string => (typeof vector === 'string' ? vector : packFloats(vector))

function packFloats(numbers: readonly number[]): string {
  const view = new DataView(new ArrayBuffer(numbers.length * 4))
  for (const [index, number] of numbers.entries()) view.setFloat32(index * 4, number, true)
  return toBase64(new Uint8Array(view.buffer))
}

function unpackFloats(text: string): number[] {
  const bytes = fromBase64(text)
  const view = new DataView(bytes.buffer, bytes.byteOffset)
  return Array.from({ length: getDimensions(text) }, (_, index) => view.getFloat32(index * 4, true))
}
