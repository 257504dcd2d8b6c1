import { isObject, type JsonObject } from '../../lib/json.ts'

/** Has the model ended its turn normally? Some servers leave the reason out. */
export const isNormalEnd = (reason: unknown, normal: string): boolean =>
  reason === normal || reason === undefined || reason === null

/** Does the value contain nothing but members that name a role or a type? */
export function isEmptyValue(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isEmptyValue)
  if (!isObject(value)) return !value
  return Object.entries(value).every(([name, member]) => name === 'role' || name === 'type' || isEmptyValue(member))
}

/** Is it a list, perhaps an empty one, in which every item is an object of this kind? */
export const isListOf = (list: unknown, is: (item: JsonObject) => boolean): boolean =>
  Array.isArray(list) && list.every((item) => isObject(item) && is(item))

/** Does the JSON of an answer of any format contain a text? Most answers do, and need no further check. */
export const hasText = (json: string): boolean => /"(?:content|text)"\s*:\s*"(?!")/.test(json)

/** Do the events of a stream of any format contain a normal end of the model's turn? An end mark alone is not one. */
export const endsTurn = (events: string): boolean =>
  /"(?:finish_?reason|stop_reason)"\s*:\s*"(?:stop|end_turn)"|"response\.completed"|event: *response\.completed/i.test(
    events,
  )
