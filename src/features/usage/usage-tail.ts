import type { Storage } from '../../types.ts'
import { decodeBatch, type UnlistedByTime } from './batch.ts'
import { JOURNAL_PREFIX, parseJournalKey } from './layout.ts'
import type { RequestQueue } from './queue.ts'
import type { StoredRequest } from './request-record.ts'

/** A batch that may not have been folded yet. */
export interface TailBatch {
  instanceId: string
  number: number
  requests: readonly StoredRequest[]
  /** Totals of requests without a record. */
  unlisted: UnlistedByTime
}

const PAGE_SIZE = 20

/**
 * Reads the batches of all instances that may not have been folded yet: those in the journal and those waiting in this process. Read the folded
 * values afterward, so they include batches folded in the meantime. With `keyId`, may omit other keys' requests.
 */
export async function readTail(
  storage: Storage,
  {
    queue,
    instanceId,
    keyId,
  }: { queue: Pick<RequestQueue, 'batches'>; instanceId: string; keyId?: string | undefined },
): Promise<TailBatch[]> {
  const batches = new Map<string, TailBatch>()
  for (const { number, requests, unlisted } of queue.batches)
    batches.set(`${instanceId}/${number}`, { instanceId, number, requests: [...requests], unlisted })
  for (let after = JOURNAL_PREFIX; ; ) {
    const page = await storage.list(JOURNAL_PREFIX, { after, limit: PAGE_SIZE })
    for (const { key, value } of page) {
      const batch = parseJournalKey(key)
      const { requests = [], unlisted = NO_UNLISTED } = decodeBatch(value, keyId) ?? {}
      batches.set(`${batch.instanceId}/${batch.number}`, { ...batch, requests, unlisted })
    }
    const lastEntry = page.at(-1)
    if (!lastEntry || page.length < PAGE_SIZE) return [...batches.values()]
    after = lastEntry.key
  }
}

const NO_UNLISTED: UnlistedByTime = new Map()
