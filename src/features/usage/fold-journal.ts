import { getRequestTime } from '../../lib/request-id.ts'
import { addTotalsByHour, MAX_TTL_MS, TotalsByHour } from './add-totals.ts'
import { decodeBatch } from './batch.ts'
import type { KeeperOptions } from './keeper.ts'
import {
  DAY_MS,
  getJournalPrefix,
  getRequestHour,
  getRequestsKey,
  getShard,
  parseJournalKey,
  type TimeSpan,
} from './layout.ts'
import { MAX_REQUESTS_PER_VALUE } from './open-value.ts'
import type { StoredRequest } from './request-record.ts'
import { encodeRequests } from './usage-codec.ts'

const PAGE_SIZE = 20

/**
 * Creates a function that folds journal batches one by one. Used for a killed instance's batches and for batches that this instance previously failed
 * to fold. Stored totals may already include some of them. `createName` returns a unique name for a value.
 */
export function createJournalFold(options: KeeperOptions, createName: () => string) {
  const { storage, clock, maxCharacters, nextTurn, onError } = options

  function encodeParts(requests: readonly StoredRequest[]): Array<{ text: string; span: TimeSpan; count: number }> {
    const middle = requests.length >> 1
    const encodeHalves = () => [...encodeParts(requests.slice(0, middle)), ...encodeParts(requests.slice(middle))]
    if (requests.length > MAX_REQUESTS_PER_VALUE) return encodeHalves()
    const text = encodeRequests(requests, clock.now())
    if (middle > 0 && text.length > maxCharacters) return encodeHalves()
    const times = requests.map(({ id }) => getRequestTime(id))
    return [{ text, count: requests.length, span: { first: Math.min(...times), last: Math.max(...times) } }]
  }

  async function storeRequests(requests: readonly StoredRequest[], days: number): Promise<void> {
    const groups = new Map<string, { shard: string; groupRequests: StoredRequest[] }>()
    for (const request of requests) {
      const shard = getShard(request)
      const groupKey = `${shard}/${getRequestHour(request.id)}`
      const group = groups.get(groupKey)
      if (group) group.groupRequests.push(request)
      else groups.set(groupKey, { shard, groupRequests: [request] })
    }
    for (const { shard, groupRequests } of groups.values()) {
      for (const { text, span, count } of encodeParts(groupRequests)) {
        const ttlMs = Math.min(span.last + days * DAY_MS - clock.now(), MAX_TTL_MS)
        const key = getRequestsKey(shard, span, count, createName())
        if (ttlMs >= 1) await storage.set(key, text, { ttlMs, durability: 'relaxed' })
      }
      await nextTurn()
    }
  }

  return async (instanceId: string, maxNumber = Number.POSITIVE_INFINITY): Promise<void> => {
    for (let after = getJournalPrefix(instanceId); ; ) {
      const page = await storage.list(getJournalPrefix(instanceId), { after, limit: PAGE_SIZE })
      const duePages = page.filter(({ key }) => parseJournalKey(key).number <= maxNumber)
      const lastEntry = duePages.at(-1)
      if (!lastEntry) return
      const batches: Array<{ first: number; last: number; sums: TotalsByHour }> = []
      const allRequests: StoredRequest[] = []
      for (const { key, value } of duePages) {
        const { number } = parseJournalKey(key)
        const batch = decodeBatch(value)
        if (!batch) onError(new Error(`The usage data stored under "${key}" is damaged and was skipped.`))
        const { requests = [], unlisted = [] } = batch ?? {}
        for (const request of requests) allRequests.push(request)
        const sums = new TotalsByHour()
        for (const request of requests)
          sums.getTotals(getShard(request), getRequestTime(request.id)).addRequest(request)
        for (const [time, totals] of unlisted) sums.addUnlisted(time, totals)
        batches.push({ first: number, last: number, sums })
        await nextTurn()
      }
      const days = await options.readRetention()
      await storeRequests(allRequests, days.requests)
      await addTotalsByHour(options, { instanceId, days }, batches)
      await Promise.all(duePages.map(({ key }) => storage.delete(key)))
      if (page.length < PAGE_SIZE) return
      after = lastEntry.key
    }
  }
}
