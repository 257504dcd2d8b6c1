import { isObject, type JsonObject } from '../../../lib/json.ts'

/** Returns whether the model ended its turn normally. Some servers omit the reason. */
export const isNormalEnd = (reason: unknown, normalReason: string): boolean =>
  reason === normalReason || reason === undefined || reason === null

/** Returns whether the value contains nothing but role and type fields. */
export function isEmptyValue(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isEmptyValue)
  if (!isObject(value)) return !value
  return Object.entries(value).every(([name, field]) => name === 'role' || name === 'type' || isEmptyValue(field))
}

/** Returns whether the value is a list, possibly empty, in which every item is an object that matches `matches`. */
export const hasOnlyItems = (list: unknown, matches: (item: JsonObject) => boolean): boolean =>
  Array.isArray(list) && list.every((item) => isObject(item) && matches(item))

/** Returns whether a response's JSON, in any format, contains text. Most responses do and need no further check. */
export const hasText = (json: string): boolean => /"(?:content|text)"\s*:\s*"(?!")/.test(json)

/** Returns whether a stream's events, in any format, contain a normal end of the model's turn. An end marker alone doesn't count. */
export const containsTurnEnd = (events: string): boolean =>
  /"(?:finish_?reason|stop_reason)"\s*:\s*"(?:stop|end_turn)"|"response\.completed"|event: *response\.completed/i.test(
    events,
  )
