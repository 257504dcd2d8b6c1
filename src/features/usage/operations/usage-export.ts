import { isObject, type JsonObject } from '../../../lib/json.ts'

/* Exports usage as comma-separated values (RFC 4180) and JSON Lines. */

/** The formats for exporting usage. */
export type ExportFormat = 'csv' | 'jsonl'

/** The columns of exported requests. A dot separates the names of nested fields. */
const REQUEST_COLUMNS = [
  'id',
  'time',
  'keyId',
  'keyName',
  'groupId',
  'groupName',
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
  'account',
  'tokenId',
  'tags',
  'tokens.cacheWriteLong',
  'promptCache',
] as const

/** The columns that precede the totals. Only columns with a value in at least one row are exported. */
const DIMENSION_COLUMNS = [
  'month',
  'day',
  'hour',
  'keyId',
  'keyName',
  'groupId',
  'groupName',
  'model',
  'target.provider',
  'target.model',
  'target.connectionId',
  'user',
  'account',
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
  'tokens.cacheWriteLong',
  'cacheSavedUsd',
] as const

/** Returns the columns for exporting rows of totals or requests. */
export function listCsvColumns(rowType: 'rows' | 'requests' | 'request', rows: readonly object[]): readonly string[] {
  if (rowType !== 'rows') return REQUEST_COLUMNS
  const usedColumns = DIMENSION_COLUMNS.filter((column) =>
    rows.some((row) => getValue(row, column.replace('Name', 'Id')) !== undefined),
  )
  return [...usedColumns, ...SUM_COLUMNS]
}

/** Lists keys and groups, for looking up their names. */
interface NameLists {
  keys(): Promise<{ keys: ReadonlyArray<{ id: string; name: string }> }>
  groups(): Promise<{ groups: ReadonlyArray<{ id: string; name: string }> }>
}

/** Returns the names of the keys and groups in a list, by ID. */
export async function readNames(rows: readonly NamedIds[], sources: NameLists): Promise<ReadonlyMap<string, string>> {
  const { keys } = rows.some(({ keyId }) => keyId) ? await sources.keys() : { keys: [] }
  const { groups } = rows.some(({ groupId }) => groupId) ? await sources.groups() : { groups: [] }
  return new Map([...keys, ...groups].map(({ id, name }) => [id, name]))
}

interface NamedIds {
  keyId?: string
  groupId?: string
}

/** Adds the names of keys and groups next to their IDs. Deleted keys and groups have no name. */
export const addNames = (rows: readonly NamedIds[], names: ReadonlyMap<string, string>): object[] =>
  rows.map((row) => ({
    ...row,
    keyName: row.keyId && names.get(row.keyId),
    groupName: row.groupId && names.get(row.groupId),
  }))

/** Formats the header line. */
export const formatCsvHeader = (columns: readonly string[]): string => `${columns.join(',')}\r\n`

/** Formats one line per object. Nested objects that have no columns of their own become JSON in one cell. */
export const formatCsvLines = (rows: readonly object[], columns: readonly string[]): string =>
  rows.map((row) => `${columns.map((column) => formatCell(getValue(row, column))).join(',')}\r\n`).join('')

export const formatJsonLines = (rows: readonly object[]): string =>
  rows.map((row) => `${JSON.stringify(row)}\n`).join('')

function getValue(row: object, column: string): unknown {
  return column
    .split('.')
    .reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), row as JsonObject)
}

/** Formats a cell. Prefixes strings that a spreadsheet would evaluate as a formula with an apostrophe. */
function formatCell(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const safeText = FORMULA_PATTERN.test(text) ? `'${text}` : text
  return NEEDS_QUOTES_PATTERN.test(safeText) ? `"${safeText.replaceAll('"', '""')}"` : safeText
}

const FORMULA_PATTERN = /^[=+\-@\t\r]/
const NEEDS_QUOTES_PATTERN = /[",\r\n]/
