import { isObject, type JsonObject } from '../lib/json.ts'

/* Usage as comma-separated values (RFC 4180) and as JSON Lines. */

/** What usage can be exported as. */
export type ExportFormat = 'csv' | 'jsonl'

/** The columns of requests; a name with a dot is a member of a member. */
const REQUEST_COLUMNS = [
  'id',
  'time',
  'keyId',
  'groupId',
  'user',
  'endpoint',
  'format',
  'model',
  'target.provider',
  'target.model',
  'target.connectionId',
  'status',
  'end',
  'error',
  'reason',
  'tokens.input',
  'tokens.output',
  'tokens.cacheRead',
  'tokens.cacheWrite',
  'tokens.reasoning',
  'units',
  'costUsd',
  'costSource',
  'streamed',
  'firstByteMs',
  'durationMs',
  'attempts',
  'skipped',
  'warnings',
  'metadata',
  'tokens.inputImage',
  'tokens.outputImage',
  'tokens.inputAudio',
  'tokens.outputAudio',
] as const

/** What may stand before the sums in the columns of rows: as many of these as any row has. */
const DIMENSION_COLUMNS = [
  'month',
  'day',
  'hour',
  'keyId',
  'groupId',
  'model',
  'target.provider',
  'target.model',
  'target.connectionId',
  'user',
  'others',
] as const

const SUM_COLUMNS = [
  'requests',
  'failed',
  'refused',
  'unpriced',
  'tokens.input',
  'tokens.output',
  'tokens.cacheRead',
  'tokens.cacheWrite',
  'tokens.reasoning',
  'units',
  'costUsd',
  'firstByteMs.p50',
  'firstByteMs.p95',
  'firstByteMs.p99',
  'durationMs.p50',
  'durationMs.p95',
  'durationMs.p99',
  'tokens.inputImage',
  'tokens.outputImage',
  'tokens.inputAudio',
  'tokens.outputAudio',
] as const

/** The columns for a list of rows or requests. */
export function csvColumns(what: 'rows' | 'requests' | 'request', list: readonly object[]): readonly string[] {
  if (what !== 'rows') return REQUEST_COLUMNS
  const used = DIMENSION_COLUMNS.filter((column) => list.some((row) => valueAt(row, column) !== undefined))
  return [...used, ...SUM_COLUMNS]
}

/** The line with the names of the columns. */
export const csvHead = (columns: readonly string[]): string => `${columns.join(',')}\r\n`

/** One line for each object; nested ones that have no column of their own are JSON in their cell. */
export const csvLines = (list: readonly object[], columns: readonly string[]): string =>
  list.map((one) => `${columns.map((column) => cellOf(valueAt(one, column))).join(',')}\r\n`).join('')

export const jsonLines = (list: readonly object[]): string => list.map((one) => `${JSON.stringify(one)}\n`).join('')

function valueAt(of: object, column: string): unknown {
  return column
    .split('.')
    .reduce<unknown>((inner, name) => (isObject(inner) ? inner[name] : undefined), of as JsonObject)
}

/** A text that a spreadsheet would take for a formula gets an apostrophe before it. */
function cellOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const safe = FORMULA.test(text) ? `'${text}` : text
  return QUOTED.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

const FORMULA = /^[=+\-@\t\r]/
const QUOTED = /[",\r\n]/
