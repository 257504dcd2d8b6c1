import { isObject, type JsonObject } from '../../lib/json.ts'
import { problem } from '../problem.ts'

/* Readers of values in the files of other programs, where a value may have any type. */

/** The value as a number, if it is one, or a text that holds one. */
export function numberOf(value: unknown): number | undefined {
  const found = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof found === 'number' && Number.isFinite(found) ? found : undefined
}

/** A time in ms within the bounds of time-outs. */
export const milliseconds = (ms: number): number => Math.min(86_400_000, Math.max(1, Math.round(ms)))

/** A number of attempts within its bounds. */
export const attemptsOf = (count: number): number => Math.min(100, Math.max(1, Math.round(count)))

/** The text, if it is one that is not blank. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined

/** The object, or an empty one. */
export const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {})

/** The list, or an empty one. */
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** Is the value without content: `null`, `false`, an empty text, list or object? */
export const isNothing = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === false ||
  value === '' ||
  (Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0)

/** The words of a text: a short way to write a list of names in the code. */
export const words = (text: string): readonly string[] => text.trim().split(/\s+/)

/** Throws a problem which says that the file is not `what`. */
export function isNone(what: string, hint: string): never {
  throw problem(`This is not ${what}. ${hint}`)
}
