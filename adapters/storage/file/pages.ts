import type { Row } from '../lib/row-operations.ts'

/** Rows with neighbouring keys, as they lie in a store file. */
export interface Page {
  /** In ascending order. */
  readonly keys: readonly string[]
  /** For each row a `,`, a line break, and its JSON, which contains no line break. */
  readonly bytes: Buffer
}

/** What a commit changes; `undefined` removes a row. */
export type RowChanges = ReadonlyMap<string, Row | undefined>

/** Encoding a page takes about a millisecond; with smaller ones, writing takes longer. */
const PAGE_BYTES = 256 * 1024
/** A larger page is divided: twice `PAGE_BYTES`, so that a fresh page is not divided again at once. */
const MOST_BYTES = 2 * PAGE_BYTES
const BREAK = ',\n'

/** The pages after changes to their rows, which `rowOf` returns. Pages without a changed row are returned as they are. */
export function changePages(
  pages: readonly Page[],
  changes: RowChanges,
  rowOf: (key: string) => Row | undefined,
): readonly Page[] {
  const sorted = [...changes].sort(byKey)
  const before = pages.length > 0 ? pages : [EMPTY]
  let done = 0
  return before.flatMap((page, at) => {
    const end = before[at + 1]?.keys[0]
    const from = done
    while (done < sorted.length && (end === undefined || (sorted[done]?.[0] ?? '') < end)) done++
    if (done === from) return page
    const rows = new Map(page.keys.map((key) => [key, rowOf(key)]))
    for (const [key, row] of sorted.slice(from, done)) rows.set(key, row)
    return encodePages(rows)
  })
}

/** The pages of these rows, of about the same size; rows that are `undefined` are left out. */
export function encodePages(rows: RowChanges): Page[] {
  const keys: string[] = []
  const lines: string[] = []
  let size = 0
  for (const [key, row] of [...rows].sort(byKey)) {
    if (!row) continue
    const line = BREAK + encodeRow(key, row)
    keys.push(key)
    lines.push(line)
    size += line.length
  }
  const most = size > MOST_BYTES ? size / Math.ceil(size / PAGE_BYTES) : size

  const pages: Page[] = []
  for (let start = 0; start < lines.length; ) {
    let end = start
    for (let filled = 0; end < lines.length && (end === start || filled < most); end++)
      filled += lines[end]?.length ?? 0
    pages.push({ keys: keys.slice(start, end), bytes: Buffer.from(lines.slice(start, end).join('')) })
    start = end
  }
  return pages
}

/** Decodes the bytes of pages, given without the `,` before the first row. Throws what `JSON.parse` throws. */
export function decodePages(bytes: Buffer): { rows: Map<string, Row>; pages: readonly Page[] } {
  const rows = new Map<string, Row>()
  const pages: Page[] = []
  let isSorted = true
  let last = ''
  for (let start = 0; start < bytes.length; ) {
    const cut = bytes.indexOf(BREAK, start + PAGE_BYTES)
    const end = cut < 0 ? bytes.length : cut
    const keys: string[] = []
    for (const [key, row] of decodeRows(bytes.toString('utf8', start + 1, end))) {
      isSorted &&= rows.size === 0 || key > last
      last = key
      keys.push(key)
      rows.set(key, row)
    }
    const own = bytes.subarray(start, end)
    if (keys.length > 0) pages.push({ keys, bytes: start > 0 ? own : Buffer.concat([COMMA, own]) })
    start = end
  }
  return { rows, pages: isSorted ? pages : encodePages(rows) } // releases without pages wrote rows in no order
}

const EMPTY: Page = { keys: [], bytes: Buffer.alloc(0) }
const COMMA = Buffer.from(',')

const byKey = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]) => (a < b ? -1 : 1)

function encodeRow(key: string, { value, version, expiresAt }: Row): string {
  return JSON.stringify(expiresAt === undefined ? [key, value, version] : [key, value, version, expiresAt])
}

function decodeRows(lines: string): Array<[string, Row]> {
  // The checksum shows that `encodeRow` has written these lines, so that they have this shape.
  const rows = JSON.parse(`[${lines}]`) as [string, string, string, number?][]
  return rows.map(([key, value, version, expiresAt]) => [
    key,
    expiresAt === undefined ? { value, version } : { value, version, expiresAt },
  ])
}
