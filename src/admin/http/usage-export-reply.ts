import { gatewayError } from '../../errors.ts'
import {
  addNames,
  type ExportFormat,
  formatCsvHeader,
  formatCsvLines,
  formatJsonLines,
  listCsvColumns,
  readNames,
} from '../../features/usage/operations/usage-export.ts'
import { encodeUtf8 } from '../../lib/bytes.ts'
import type { ByteStream, Exchange, Reply } from '../../lib/exchange.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { UNCACHED_HEADERS } from '../../request/door/reply.ts'
import type { OperationEntry } from '../operation-table.ts'
import type { RecordApi } from './unless-changed.ts'

type ExportedResult = NonNullable<OperationEntry['exports']>

/** The media types for usage; `json` is the operation's plain result. */
const CONTENT_TYPES = {
  json: 'application/json',
  csv: 'text/csv',
  jsonl: 'application/jsonl',
} as const satisfies Record<ExportFormat | 'json', string>

/**
 * Returns the format that a request specifies: the `format` parameter, otherwise the first known type in `Accept`, or `undefined` for JSON. Throws
 * `INVALID_REQUEST`.
 */
export function chooseExportFormat(exchange: Exchange, format: string | undefined): ExportFormat | undefined {
  if (format !== undefined && !Object.hasOwn(CONTENT_TYPES, format))
    throw gatewayError('INVALID_REQUEST', { message: '"format" must be "json", "csv", or "jsonl"' })
  if (format === 'csv' || format === 'jsonl') return format
  if (format !== undefined) return undefined
  for (const type of (exchange.header('accept') ?? '').split(',')) {
    const name = type.split(';')[0]?.trim().toLowerCase()
    if (name === CONTENT_TYPES.csv) return 'csv'
    if (name === CONTENT_TYPES.jsonl || name === 'application/x-ndjson') return 'jsonl'
    if (name === CONTENT_TYPES.json || name === '*/*') return undefined
  }
  return undefined
}

interface ExportOptions {
  query: JsonObject
  exported: ExportedResult
  format: ExportFormat
  api: Pick<RecordApi, 'keys' | 'groups'>
}

/** The number of requests per read. */
const PAGE_SIZE = 1_000

/**
 * Returns an operation's result as CSV or JSON Lines. Without a `limit`, sends all requests, page by page, as fast as the client reads; with one, the
 * `x-signalbox-before` header contains the start of the next page. `x-signalbox-missing` is the number of requests without a record.
 */
export async function createExportReply(
  call: (query: JsonObject) => Promise<object>,
  { query, exported, format, api }: ExportOptions,
): Promise<Reply> {
  const isPaged = exported === 'requests' && query.limit === undefined
  const readPage = async (before: unknown) => {
    const response: object = await call(
      isPaged ? { ...query, limit: PAGE_SIZE, ...(before !== undefined && { before }) } : query,
    )
    const content: unknown = Reflect.get(response, exported)
    const { before: nextCursor, missing } = response as { before?: unknown; missing?: unknown } // only request lists have these fields
    return { list: Array.isArray(content) ? content : [content], before: nextCursor, missing }
  }
  const firstPage = await readPage(undefined)
  const columns = listCsvColumns(exported, firstPage.list.filter(isObject))
  const sources = { keys: () => api.keys.list({ values: 'none' }), groups: () => api.groups.list() }
  const formatLines = async (rows: object[]) =>
    format === 'csv' ? formatCsvLines(addNames(rows, await readNames(rows, sources)), columns) : formatJsonLines(rows)
  const header = format === 'csv' ? formatCsvHeader(columns) : ''
  const headers = {
    'content-type': format === 'csv' ? `${CONTENT_TYPES.csv}; charset=utf-8` : CONTENT_TYPES.jsonl,
    ...UNCACHED_HEADERS,
    ...(!isPaged && typeof firstPage.before === 'string' && { 'x-signalbox-before': firstPage.before }),
    ...(typeof firstPage.missing === 'number' && { 'x-signalbox-missing': String(firstPage.missing) }),
  }
  if (!isPaged || firstPage.before === undefined)
    return { status: 200, headers, body: header + (await formatLines(firstPage.list)) }
  return {
    status: 200,
    headers,
    body: streamPages(header + (await formatLines(firstPage.list)), firstPage.before, readPage, formatLines),
  }
}

function streamPages(
  firstText: string,
  firstCursor: unknown,
  readPage: (before: unknown) => Promise<{ list: object[]; before: unknown }>,
  formatLines: (rows: object[]) => Promise<string>,
): ByteStream {
  let pendingText: string | undefined = firstText
  let nextCursor: unknown = firstCursor
  return {
    async next() {
      if (pendingText === undefined) {
        if (nextCursor === undefined) return undefined
        const page = await readPage(nextCursor)
        nextCursor = page.before
        pendingText = await formatLines(page.list)
      }
      const bytes = encodeUtf8(pendingText)
      pendingText = undefined
      return bytes.length > 0 || nextCursor === undefined ? bytes : this.next() // a page may be empty
    },
    cancel() {
      pendingText = undefined
      nextCursor = undefined
    },
  }
}
