import type { JsonObject } from '../../lib/json.ts'
import type { SseEvent } from '../../lib/sse.ts'
import { isExactNumber } from '../../protocols/formats/canonical/exact-json.ts'

/** Returns whether any object in the JSON repeats a field. Only the last occurrence is checked and sent. */
export const hasRepeatedField = (text: string, json: JsonObject): boolean => countFieldNames(text) > countFields(json)

function countFieldNames(json: string): number {
  let count = 0
  for (const [string] of json.matchAll(/"(?:[^"\\]|\\.)*"(?:\s*:)?/g)) if (string.endsWith(':')) count++
  return count
}

function countFields(value: unknown): number {
  if (typeof value !== 'object' || value === null || isExactNumber(value)) return 0
  const values = Object.values(value)
  return values.reduce((sum: number, item) => sum + countFields(item), Array.isArray(value) ? 0 : values.length)
}

/** Parses a block without a field name, because some providers send errors as bare JSON. */
export const readBareJson = (block: string): SseEvent | undefined =>
  block.startsWith('{') ? { event: undefined, data: block.trim() } : undefined

/** Returns whether a block contains only keep-alive comments. Other comments aren't sent. */
export const isKeepAlive = (block: string): boolean =>
  block.split(/[\r\n]/).every((line) => line === '' || KEEP_ALIVE_LINES.has(line))

const KEEP_ALIVE_LINES = new Set([
  ':',
  ': ',
  ': keep-alive',
  ': keepalive',
  ':keepalive',
  ': ping',
  ': heartbeat',
  ': ok',
  ': OPENROUTER PROCESSING',
])

/** Matches the non-data lines of an event. */
export const NON_DATA_LINE_PATTERN = /^(?!data:)[^\r\n]+/gm
