import { isObject } from '../lib/json.ts'

/** Are two JSON values the same, whatever the order of their members? Members that are `undefined` count as absent. */
export function isSameJson(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((item, at) => isSameJson(item, other[at]))
  if (!isObject(one) || !isObject(other)) return one === other
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].every((name) => isSameJson(one[name], other[name]))
}
