import { isObject, type JsonObject } from '../lib/json.ts'

/** Did the model end its turn in the normal way? Some servers leave the reason out. */
export const isEnd = (reason: unknown, normal: string): boolean =>
  reason === normal || reason === undefined || reason === null

/** Does the value contain nothing but members that name a role or a type? */
export function isNothing(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isNothing)
  if (!isObject(value)) return !value
  return Object.entries(value).every(([name, member]) => name === 'role' || name === 'type' || isNothing(member))
}

/** Is it a list whose items, if it has any, all are objects of this kind? */
export const areAll = (list: unknown, is: (item: JsonObject) => boolean): boolean =>
  Array.isArray(list) && list.every((item) => isObject(item) && is(item))
