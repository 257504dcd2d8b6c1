import { gatewayError } from '../errors.ts'
import type { ModelEntry } from '../types.ts'

/** An id that a page starts behind or ends before, and the parameter that named it. */
interface Cursor {
  name: string
  id: string
}

/**
 * At most `size` entries behind `after`, or the last ones before `before`; `hasMore` in the direction of travel. The listing is worked
 * out anew for each page, so a cursor whose model has gone is an error (`INVALID_REQUEST`), not the end.
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

/** A whole number from 1 up, or `undefined` when the query does not say. */
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
