import { assertNever } from '../lib/assert-never.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import type { MapShape, NumberShape, ObjectShape, Shape, TextShape } from '../types/records/shapes.ts'

/** Returns whether this value is valid input for the shape. As strict as the management API, but loads no schemas and changes nothing. */
export function isValidInput(shape: Shape, value: unknown): boolean {
  switch (shape.type) {
    case 'text':
      return isValidText(shape, value)
    case 'number':
      return isValidNumber(shape, value)
    case 'choice':
      return typeof value === 'string' && shape.of.includes(value)
    case 'list':
      if (!Array.isArray(value) || value.length > shape.most || (shape.isFilled && value.length === 0)) return false
      return Array.from<unknown>(value).every((item) => isValidInput(shape.of, item)) // it may be sparse or override array methods
    case 'map':
      return isValidMap(shape, value)
    case 'object':
      return isValidObject(shape, value)
    case 'flag':
      return typeof value === 'boolean'
    case 'time':
    case 'entry':
      return false // only the management API accepts them
    default:
      return assertNever(shape)
  }
}

/** Returns whether the value is an object, and not an instance of a class, whose inherited members wouldn't be checked. */
export function isPlainObject(value: unknown): value is JsonObject {
  if (!isObject(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null // of any realm
}

function isValidText({ isTrimmed, isFilled, most, pattern }: TextShape, value: unknown): boolean {
  if (typeof value !== 'string') return false
  if (isFilled && value.trim() === '') return false
  if (isTrimmed && value.trim() !== value) return false
  if (most !== undefined && (value.length > most || CONTROL.test(value))) return false
  return pattern?.test(value) ?? true
}

const CONTROL = /\p{Cc}/u

const isValidNumber = ({ least, above, most, isWhole }: NumberShape, value: unknown): boolean =>
  typeof value === 'number' &&
  (isWhole ? Number.isSafeInteger(value) : Number.isFinite(value)) &&
  value >= (least ?? value) &&
  value > (above ?? Number.NEGATIVE_INFINITY) &&
  value <= (most ?? value)

function isValidMap(shape: MapShape, value: unknown): boolean {
  if (!isPlainObject(value)) return false
  const entries = Object.entries(value)
  if (entries.length > shape.most) return false
  return entries.every(([name, item]) => isValidInput(shape.name, name) && isValidInput(shape.of, item))
}

function isValidObject({ fields, isFilled }: ObjectShape, value: unknown): boolean {
  if (!isPlainObject(value)) return false
  const given = Object.entries(value).filter(([, item]) => item !== undefined)
  if (isFilled && given.length === 0) return false
  if (Object.keys(value).some((name) => !Object.hasOwn(fields, name))) return false
  return Object.entries(fields).every(([name, { shape, isOptional }]) => {
    const item = value[name]
    return item === undefined ? isOptional === true : isValidInput(shape, item)
  })
}
