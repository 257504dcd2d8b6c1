import { gatewayError } from '../../errors.ts'
import type { Kind, ModelEntry } from '../../types.ts'

/** Writes model lists for a format's clients. */
export interface ModelListFormat {
  /** Returns the body of a list, or of the page that the query requests. Throws `INVALID_REQUEST` if paging parameters are invalid. */
  list(entries: readonly ModelEntry[], request: { kinds: readonly Kind[]; query: URLSearchParams }): object
  /** Returns the body for one model. `kinds` contains the model kinds that were searched. */
  one(entry: ModelEntry, kinds: readonly Kind[]): object
  /** Returns the body of a list with several kinds, in a version of the format's API. Absent if the format has no such lists. */
  byKind?(lists: readonly { kind: Kind; entries: readonly ModelEntry[] }[], version: string): object
}

/** The ID that a page starts after or ends before, and the query parameter that contained it. */
interface Cursor {
  name: string
  id: string
}

/**
 * Returns at most `size` entries after `after`, or the last ones before `before`, and whether there are more in that direction. The list is rebuilt
 * for each page, so a cursor to a model that was removed throws `INVALID_REQUEST` instead of ending the list.
 */
export function slicePage(
  entries: readonly ModelEntry[],
  { size, after, before }: { size: number | undefined; after?: Cursor | undefined; before?: Cursor | undefined },
): { page: readonly ModelEntry[]; hasMore: boolean } {
  const start = after ? findCursorIndex(entries, after) + 1 : 0
  const end = before ? findCursorIndex(entries, before) : entries.length
  const range = entries.slice(start, end)
  if (size === undefined || range.length <= size) return { page: range, hasMore: false }
  return { page: before && !after ? range.slice(-size) : range.slice(0, size), hasMore: true }
}

/** Reads the page size from the query: an integer of at least 1. Returns `undefined` if there is none. */
export function readPageSize(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name)
  if (text === null || text === '') return undefined
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw gatewayError('INVALID_REQUEST', { message: `${name} must be a whole number of 1 or more.` })
}

function findCursorIndex(entries: readonly ModelEntry[], { name, id }: Cursor): number {
  const index = entries.findIndex((entry) => entry.id === id)
  if (index >= 0) return index
  throw gatewayError('INVALID_REQUEST', {
    message: `${name}: the list contains no model "${id}". Start again from the first page.`,
  })
}

/** Writes OpenAI's list and model: the unchanged entries (src/rules.md, Model lists of OpenAI clients). The list isn't paginated. */
export const openaiModels: ModelListFormat = {
  list: (entries) => ({ object: 'list', data: entries }),
  one: (entry) => entry,
}
