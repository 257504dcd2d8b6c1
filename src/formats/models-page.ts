import { gatewayError } from '../errors.ts'
import type { ModelEntry } from '../types.ts'

/** The id that a page starts after or ends before, and the query parameter that named it. */
interface Cursor {
  name: string
  id: string
}

/**
 * At most `size` entries after `after`, or the last ones before `before`; `hasMore` in that direction. Each page lists anew, so a cursor
 * whose model has gone is an `INVALID_REQUEST`, not the end of the list.
 */
export function cutPage(
  entries: readonly ModelEntry[],
  { size, after, before }: { size: number | undefined; after?: Cursor | undefined; before?: Cursor | undefined },
): { page: readonly ModelEntry[]; hasMore: boolean } {
  const start = after ? placeOf(entries, after) + 1 : 0
  const end = before ? placeOf(entries, before) : entries.length
  const window = entries.slice(start, end)
  if (size === undefined || window.length <= size) return { page: window, hasMore: false }
  return { page: before && !after ? window.slice(-size) : window.slice(0, size), hasMore: true }
}

/** The page size: a whole number from 1; `undefined` when the query has none. */
export function pageSize(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name)
  if (text === null || text === '') return undefined
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw gatewayError('INVALID_REQUEST', { message: `${name} must be a whole number from 1 up.` })
}

function placeOf(entries: readonly ModelEntry[], { name, id }: Cursor): number {
  const place = entries.findIndex((entry) => entry.id === id)
  if (place >= 0) return place
  throw gatewayError('INVALID_REQUEST', {
    message: `${name}: there is no model "${id}" in this list. Start again from the first page.`,
  })
}
