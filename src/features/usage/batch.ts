import { isObject, tryParseJson } from '../../lib/json.ts'
import type { StoredRequest } from './request-record.ts'
import { readTotals, type Totals } from './totals.ts'
import { readRows } from './usage-codec.ts'

/** Totals of requests without a record, by the start of their period in epoch ms. A period is a minute or longer. */
export type UnlistedByTime = ReadonlyMap<number, Totals>

/** The contents of a journal batch. */
export interface JournalBatch {
  /** Write time in epoch ms. */
  writtenAt: number
  requests: StoredRequest[]
  unlisted: UnlistedByTime
}

/** Encodes a batch. `parts` come from `encodeRows`. */
export function encodeBatch(parts: readonly string[], unlisted: UnlistedByTime, writtenAt: number): string {
  const sums = Array.from(unlisted, ([time, totals]) => `[${time},${totals.encode(Number.POSITIVE_INFINITY)}]`)
  return `{"at":${writtenAt},"parts":[${parts.join(',')}]${sums.length > 0 ? `,"unlisted":[${sums.join(',')}]` : ''}}`
}

/** Decodes a batch in the current format or an earlier one, optionally only one key's requests. Returns `undefined` if the batch is damaged. */
export function decodeBatch(text: string, keyId?: string): JournalBatch | undefined {
  if (keyId && !text.includes(JSON.stringify(keyId)) && !text.includes('"unlisted"'))
    return { writtenAt: 0, requests: [], unlisted: new Map() }
  const storedBatch = tryParseJson(text)
  if (!isObject(storedBatch)) return undefined
  const requests: StoredRequest[] = []
  for (const part of Array.isArray(storedBatch.parts) ? storedBatch.parts : [storedBatch]) {
    const partRequests = readRows(part, keyId)
    if (!partRequests) return undefined
    for (const request of partRequests) requests.push(request)
  }
  const unlisted = new Map<number, Totals>()
  for (const [time, sums] of (storedBatch.unlisted ?? []) as Array<[number, unknown]>) {
    const totals = readTotals(sums)
    if (!totals) return undefined
    unlisted.set(time, totals)
  }
  return { writtenAt: Number(storedBatch.at), requests, unlisted }
}
