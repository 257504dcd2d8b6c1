import { gatewayError } from '../errors.ts'
import { encodeUtf8 } from '../lib/bytes.ts'
import type { ByteStream, Exchange, Reply } from '../lib/exchange.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import type { ServedOperation } from '../management/operations.ts'
import { csvColumns, csvHead, csvLines, type ExportFormat, jsonLines } from '../management/usage-export.ts'
import { UNCACHED } from './reply.ts'

type Exported = NonNullable<ServedOperation['exports']>

/** The media types in which usage is sent; `json`: as the operation resolves to it. */
const TYPES = {
  json: 'application/json',
  csv: 'text/csv',
  jsonl: 'application/jsonl',
} as const satisfies Record<ExportFormat | 'json', string>

/**
 * The format that a request asks for: by the parameter `format`, otherwise by the first type of `Accept` that is known. Throws
 * `INVALID_REQUEST`.
 */
export function exportFormatOf(exchange: Exchange, format: string | undefined): ExportFormat | undefined {
  if (format !== undefined && !Object.hasOwn(TYPES, format))
    throw gatewayError('INVALID_REQUEST', { message: '"format" must be one of "json", "csv", "jsonl"' })
  if (format === 'csv' || format === 'jsonl') return format
  if (format !== undefined) return undefined
  for (const type of (exchange.header('accept') ?? '').split(',')) {
    const name = type.split(';')[0]?.trim().toLowerCase()
    if (name === TYPES.csv) return 'csv'
    if (name === TYPES.jsonl || name === 'application/x-ndjson') return 'jsonl'
    if (name === TYPES.json || name === '*/*') return undefined
  }
  return undefined
}

/** How many requests are read at once. */
const PAGE = 1_000

/**
 * The reply with what an operation resolves to, as CSV or JSON Lines. Requests without a `limit` are sent all, a page after the other, at the
 * pace of the client; with one, the header `x-signalbox-before` has where the next page begins.
 */
export async function exportReply(
  call: (query: JsonObject) => Promise<object>,
  { query, exported, format }: { query: JsonObject; exported: Exported; format: ExportFormat },
): Promise<Reply> {
  const isPaged = exported === 'requests' && query.limit === undefined
  const read = async (before: unknown) => {
    const answer: object = await call(
      isPaged ? { ...query, limit: PAGE, ...(before !== undefined && { before }) } : query,
    )
    const content: unknown = Reflect.get(answer, exported)
    return { list: Array.isArray(content) ? content : [content], before: Reflect.get(answer, 'before') as unknown }
  }
  const first = await read(undefined)
  const columns = csvColumns(exported, first.list.filter(isObject))
  const linesOf = (list: object[]) => (format === 'csv' ? csvLines(list, columns) : jsonLines(list))
  const head = format === 'csv' ? csvHead(columns) : ''
  const headers = {
    'content-type': format === 'csv' ? `${TYPES.csv}; charset=utf-8` : TYPES.jsonl,
    ...UNCACHED,
    ...(!isPaged && typeof first.before === 'string' && { 'x-signalbox-before': first.before }),
  }
  if (!isPaged || first.before === undefined) return { status: 200, headers, body: head + linesOf(first.list) }
  return { status: 200, headers, body: pages(head + linesOf(first.list), first.before, read, linesOf) }
}

function pages(
  beginning: string,
  before: unknown,
  read: (before: unknown) => Promise<{ list: object[]; before: unknown }>,
  linesOf: (list: object[]) => string,
): ByteStream {
  let text: string | undefined = beginning
  let next: unknown = before
  return {
    async next() {
      if (text === undefined) {
        if (next === undefined) return undefined
        const page = await read(next)
        next = page.before
        text = linesOf(page.list)
      }
      const bytes = encodeUtf8(text)
      text = undefined
      return bytes.length > 0 || next === undefined ? bytes : this.next() // a page may be empty
    },
    cancel() {
      text = undefined
      next = undefined
    },
  }
}
