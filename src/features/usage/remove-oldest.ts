import type { Storage } from '../../types.ts'
import { getRequestsPrefix, parseRequestCount, parseTimeSpan, REMOVED_KEY, SHARDS } from './layout.ts'
import { decodeRequests } from './usage-codec.ts'

interface RemoveOptions {
  storage: Storage
  /** Yields to the event loop so other work can run. */
  nextTurn(): Promise<void>
}

const ROW_BYTES = 300

/** Removes the oldest records until the others fit within the storage's limit. */
export async function removeOldest({ storage, nextTurn }: RemoveOptions): Promise<void> {
  const limit = storage.usageRecordLimit
  if (!limit) return
  const values: Array<{ key: string; last: number; count: number; bytes: number }> = []
  let recordCount = 0
  let totalBytes = 0
  for (const shard of SHARDS) {
    for (const { key, value } of await storage.list(getRequestsPrefix(shard))) {
      const count = parseRequestCount(key) ?? decodeRequests(value)?.length ?? 0
      const entry = { key, last: parseTimeSpan(key).last, count, bytes: value.length + ROW_BYTES }
      values.push(entry)
      recordCount += entry.count
      totalBytes += entry.bytes
    }
    await nextTurn()
  }
  if (recordCount <= limit.records && totalBytes <= limit.bytes) return
  const removedValues = []
  for (const value of values.sort((a, b) => a.last - b.last)) {
    if (recordCount <= limit.records && totalBytes <= limit.bytes) break
    recordCount -= value.count
    totalBytes -= value.bytes
    removedValues.push(value)
  }
  const removedUntil = Math.max(removedValues.at(-1)?.last ?? 0, await readRemovedTime(storage))
  await storage.set(REMOVED_KEY, String(removedUntil + 1)) // must be readable before the records are removed
  await Promise.all(removedValues.map(({ key }) => storage.delete(key)))
}

/** Returns the time, in epoch ms, since which no records have been removed early. */
export async function readRemovedTime(storage: Storage): Promise<number> {
  return Number((await storage.get(REMOVED_KEY))?.value ?? 0)
}
