import type { JsonObject } from '../../lib/json.ts'
import type { Kind } from '../../types.ts'

/**
 * Every kind, and whether models have it or only providers. A record, so that a new one fails the compiler until it is
 * placed.
 */
export const kinds: Record<Kind, 'model' | 'service'> = {
  llm: 'model',
  image: 'model',
  tts: 'model',
  stt: 'model',
  embedding: 'model',
  imageToText: 'model',
  webSearch: 'service',
  webFetch: 'service',
}

/** What an entry has that its type does not know. */
export const unknownFields = (value: JsonObject, known: object, prefix = '') =>
  Object.keys(value)
    .filter((field) => !Object.hasOwn(known, field))
    .map((field) => `${prefix}${field} is not a known field`)

export const isMember = <Members extends object>(value: unknown, members: Members): value is keyof Members =>
  typeof value === 'string' && Object.hasOwn(members, value)

/** A string that is not blank. */
export const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== ''
export const show = (value: unknown) => JSON.stringify(value) ?? String(value)

/** Undefined is fine: the field then has its default. */
export function memberProblems(field: string, value: unknown, members: object): string[] {
  if (value === undefined || isMember(value, members)) return []
  return [`${field} ${show(value)} is none of ${Object.keys(members).join(', ')}`]
}
