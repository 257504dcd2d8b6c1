import { isObject, type JsonObject } from '../lib/json.ts'

/** The `error` of an envelope `{ error: { message } }`, which all formats of clients share; `undefined` when the body is something else. */
export function errorObjectIn(body: unknown): JsonObject | undefined {
  const error = isObject(body) ? body.error : undefined
  return isObject(error) && typeof error.message === 'string' ? error : undefined
}
