import type { JsonObject } from '../../lib/json.ts'
import type { KindResponse, PassThrough, RequestSplitter } from './kind-adapters.ts'

/** The index of a part's first entry, and the index after its last entry. */
export type EntryRange = readonly [start: number, end: number]

/** The maximum that a vendor accepts in one call. Absent means no limit. */
export interface CallBounds {
  entries?: number | undefined
  tokens?: number | undefined
}

/**
 * Splits a request into parts that a vendor accepts in one call. An entry that exceeds the maximum becomes a separate part, which the vendor
 * truncates or rejects. `bodyLength` is in characters.
 */
export function splitRequest<Req>(
  request: Req,
  splitter: Pick<RequestSplitter<Req, never>, 'countEntries' | 'countTokens' | 'slice'> | undefined,
  {
    entries: maxEntries = Number.POSITIVE_INFINITY,
    tokens: tokenLimit,
    bodyLength,
  }: CallBounds & { bodyLength: number },
): ReadonlyArray<{ request: Req; entries: EntryRange }> {
  const entryCount = splitter?.countEntries(request) ?? 0
  // Text never has more than two tokens per character, so short requests don't need a token count.
  const maxTokens = tokenLimit === undefined || bodyLength * 2 <= tokenLimit ? Number.POSITIVE_INFINITY : tokenLimit
  if (!splitter || entryCount <= 1 || (entryCount <= maxEntries && maxTokens === Number.POSITIVE_INFINITY))
    return [{ request, entries: [0, entryCount] }]
  const ranges: EntryRange[] = []
  let start = 0
  let partTokens = 0
  for (let index = 0; index < entryCount; index++) {
    const entryTokens = maxTokens === Number.POSITIVE_INFINITY ? 0 : (splitter.countTokens?.(request, index) ?? 0)
    if (index > start && (index - start === maxEntries || partTokens + entryTokens > maxTokens)) {
      ranges.push([start, index])
      start = index
      partTokens = 0
    }
    partTokens += entryTokens
  }
  ranges.push([start, entryCount])
  if (ranges.length === 1) return [{ request, entries: [0, entryCount] }]
  return ranges.map((entries) => ({ request: splitter.slice(request, ...entries), entries }))
}

/** Reduces the body field that contains the `size` entries to a part's entries. */
export function pickEntries<Req>(
  { listFields = [] }: PassThrough<Req>,
  { body, size, entries }: { body: JsonObject; size: number | undefined; entries: EntryRange },
): JsonObject {
  for (const name of listFields) {
    const list = body[name]
    if (Array.isArray(list) && list.length === size) return { [name]: list.slice(...entries) }
  }
  return {}
}

/** Joins the responses to a request's parts. */
export function joinResponses<Res extends KindResponse>(
  responses: readonly Res[],
  splitter: Pick<RequestSplitter<never, Res>, 'join'> | undefined,
): Res {
  const [first, ...others] = responses
  if (first === undefined) throw new TypeError('There is no answer to write.')
  return splitter && others.length > 0 ? splitter.join(responses) : first
}
