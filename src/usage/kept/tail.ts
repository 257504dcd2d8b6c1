import type { Storage } from '../../types.ts'
import { decodeRequests } from './codec.ts'
import { batchOf, JOURNAL } from './layout.ts'
import type { RequestQueue } from './queue.ts'
import type { KeptRequest } from './record.ts'

/** A batch that may not have been folded yet. */
export interface TailBatch {
  instance: string
  number: number
  requests: readonly KeptRequest[]
}

/** How many batches are read at once. */
const PAGE = 100

/**
 * The batches of all instances that may not have been folded yet: those in the storage, and what waits in this process. What is folded while they
 * are read is found where it was folded to, if that is read afterwards.
 */
export async function readTail(
  storage: Storage,
  { queue, instance }: { queue: Pick<RequestQueue, 'batches'>; instance: string },
): Promise<TailBatch[]> {
  const batches = new Map<string, TailBatch>()
  for (const { number, requests } of queue.batches)
    batches.set(`${instance}/${number}`, { instance, number, requests: [...requests] })
  for (let after = JOURNAL; ; ) {
    const page = await storage.list(JOURNAL, { after, limit: PAGE })
    for (const { key, value } of page) {
      const batch = batchOf(key)
      const requests = decodeRequests(value)?.requests ?? []
      batches.set(`${batch.instance}/${batch.number}`, { ...batch, requests })
    }
    const last = page.at(-1)
    if (!last || page.length < PAGE) return [...batches.values()]
    after = last.key
  }
}
