import { isObject, type JsonObject } from '../../lib/json.ts'
import { createProblem } from '../problem.ts'

/* Reads values from other programs' files, in which a value can have any type. */

/** Returns the value as a number if it is a number or a string that contains one. */
export function readNumber(value: unknown): number | undefined {
  const found = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof found === 'number' && Number.isFinite(found) ? found : undefined
}

/** Rounds a timeout in ms, and limits it to the allowed range. */
export const toTimeoutMs = (ms: number): number => Math.min(86_400_000, Math.max(1, Math.round(ms)))

/** Rounds a number of attempts, and limits it to the allowed range. */
export const toAttempts = (count: number): number => Math.min(100, Math.max(1, Math.round(count)))

/** Returns the trimmed string, or `undefined` if it is blank or not a string. */
export const readString = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined

/** Returns the value if it is an object, otherwise an empty object. */
export const toObject = (value: unknown): JsonObject => (isObject(value) ? value : {})

/** Returns the value if it is a list, otherwise an empty list. */
export const toList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** Returns whether the value is missing, `null`, `false`, or an empty string, list, or object. */
export const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === false ||
  value === '' ||
  (Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0)

/** Splits a string at whitespace, which keeps long lists of names readable. */
export const splitWords = (text: string): readonly string[] => text.trim().split(/\s+/)

/** Throws a problem that reports that the file isn't `description`. */
export function rejectFile(description: string, hint: string): never {
  throw createProblem(`This is not ${description}. ${hint}`)
}
