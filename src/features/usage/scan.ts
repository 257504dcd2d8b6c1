import { getRequestTime } from '../../lib/request-id.ts'
import type { Storage } from '../../types.ts'
import { getRequestsCursor, getRequestsPrefix, parseTimeSpan } from './layout.ts'
import type { StoredRequest } from './request-record.ts'
import { decodeRequests } from './usage-codec.ts'

/** A scan's criteria. */
export interface Scan {
  /** In epoch ms; `to` is exclusive. */
  from: number
  to: number
  /** Includes only requests with smaller IDs than this one. */
  before?: string | undefined
  /** Includes only requests with this API key. */
  keyId?: string | undefined
  matches(request: StoredRequest): boolean
}

/** A listed value that hasn't been decoded yet. */
interface ListedValue {
  value: string
  first: number
  last: number
}

/** The number of values on the first page and the maximum on later pages. */
const FIRST_PAGE_SIZE = 2
const MAX_PAGE_SIZE = 32

/**
 * Iterates over a shard's matching requests, newest first. `advance` reads more from storage; `position` is the time that the scan has reached.
 */
export class ShardScan {
  readonly #storage: Storage
  readonly #shard: string
  readonly #scan: Scan
  /** Decoded requests that haven't been taken yet, newest first. */
  #foundRequests: StoredRequest[]
  #listedValues: ListedValue[] = []
  #after: string
  #pageSize = FIRST_PAGE_SIZE
  #isFullyListed = false
  /** The number of values and requests that the scan has decoded. */
  readCount = 0

  /** `journalRequests` contains the shard's requests that may not be in the stored values yet. */
  constructor(
    storage: Storage,
    shard: string,
    { scan, journalRequests }: { scan: Scan; journalRequests: readonly StoredRequest[] },
  ) {
    this.#storage = storage
    this.#shard = shard
    this.#scan = scan
    this.#foundRequests = this.#filter(journalRequests).sort(compareNewestFirst)
    this.#after = getRequestsCursor(shard, scan.to)
  }

  /** The newest decoded request that hasn't been taken yet. */
  get newest(): StoredRequest | undefined {
    return this.#foundRequests[0]
  }

  /** The time, in epoch ms, since which all requests have been read. `-Infinity` at the end. */
  get position(): number {
    const [nextValue] = this.#listedValues
    return nextValue ? nextValue.last : this.#isFullyListed ? Number.NEGATIVE_INFINITY : this.#nextPosition
  }

  #nextPosition = Number.POSITIVE_INFINITY

  removeNewest(): void {
    this.#foundRequests.shift()
  }

  /** Decodes the next value, or lists another page of values. */
  async advance(): Promise<void> {
    const nextValue = this.#listedValues.shift()
    if (!nextValue) return this.#list()
    const requests = decodeRequests(nextValue.value, this.#scan.keyId) ?? []
    this.readCount += 1 + requests.length
    const matchingRequests = this.#filter(requests)
    if (matchingRequests.length > 0)
      this.#foundRequests = [...this.#foundRequests, ...matchingRequests].sort(compareNewestFirst)
  }

  async #list(): Promise<void> {
    const { from, to } = this.#scan
    const limit = this.#pageSize
    const page = await this.#storage.list(getRequestsPrefix(this.#shard), { after: this.#after, limit })
    this.#pageSize = Math.min(limit * 2, MAX_PAGE_SIZE)
    this.#isFullyListed = page.length < limit
    for (const { key, value } of page) {
      const span = parseTimeSpan(key)
      this.#after = key
      this.#nextPosition = span.last
      if (span.last < from) this.#isFullyListed = true
      else if (span.first < to) this.#listedValues.push({ value, ...span })
    }
  }

  #filter(requests: readonly StoredRequest[]): StoredRequest[] {
    const { from, to, before, matches } = this.#scan
    return requests.filter((request) => {
      const time = getRequestTime(request.id)
      return time >= from && time < to && (before === undefined || request.id < before) && matches(request)
    })
  }
}

const compareNewestFirst = (a: StoredRequest, b: StoredRequest) => (a.id < b.id ? 1 : a.id > b.id ? -1 : 0)
