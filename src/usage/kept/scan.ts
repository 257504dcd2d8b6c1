import type { Storage } from '../../types.ts'
import { decodeRequests } from './codec.ts'
import { beforeRequests, requestsOf, spanOf } from './layout.ts'
import { type KeptRequest, timeOfId } from './record.ts'

/** The requests that a scan looks for. */
export interface Scan {
  /** Epoch ms: from `from` on, before `to`. */
  from: number
  to: number
  /** Only ids below this one. */
  before?: string | undefined
  /** Only those of this key; absent: all. */
  keyId?: string | undefined
  isMeant(request: KeptRequest): boolean
}

/** A value that was listed and not read yet. */
interface ListedValue {
  value: string
  first: number
  last: number
}

/** The values that are listed at first, and at most. */
const FIRST_PAGE = 2
const LARGEST_PAGE = 32

/**
 * The requests of a shard that are meant, the newest first. `next` reads no more of the storage than it needs; `position` says how far it has come.
 */
export class ShardScan {
  readonly #storage: Storage
  readonly #shard: string
  readonly #scan: Scan
  /** Those that were read and not given yet, the newest first. */
  #found: KeptRequest[]
  #listed: ListedValue[] = []
  #after: string
  #pageSize = FIRST_PAGE
  #isListed = false
  /** How many values and requests were read. */
  read = 0

  /** `found`: requests of the shard that may not be in its values yet. */
  constructor(storage: Storage, shard: string, { scan, found }: { scan: Scan; found: readonly KeptRequest[] }) {
    this.#storage = storage
    this.#shard = shard
    this.#scan = scan
    this.#found = this.#meant(found).sort(newestFirst)
    this.#after = beforeRequests(shard, scan.to)
  }

  /** The newest request that was not taken yet; `undefined` when there is none left. Reads at most one page of values. */
  get first(): KeptRequest | undefined {
    return this.#found[0]
  }

  /** No request that is newer than this is still to be read; epoch ms, `-Infinity` when all are read. */
  get position(): number {
    const [next] = this.#listed
    return next ? next.last : this.#isListed ? Number.NEGATIVE_INFINITY : this.#ahead
  }

  #ahead = Number.POSITIVE_INFINITY

  take(): void {
    this.#found.shift()
  }

  /** Reads one more value. */
  async advance(): Promise<void> {
    const next = this.#listed.shift()
    if (!next) return this.#list()
    const requests = decodeRequests(next.value, this.#scan.keyId)?.requests ?? []
    this.read += 1 + requests.length
    const meant = this.#meant(requests)
    if (meant.length > 0) this.#found = [...this.#found, ...meant].sort(newestFirst)
  }

  async #list(): Promise<void> {
    const { from, to } = this.#scan
    const limit = this.#pageSize
    const page = await this.#storage.list(requestsOf(this.#shard), { after: this.#after, limit })
    this.#pageSize = Math.min(limit * 2, LARGEST_PAGE)
    this.#isListed = page.length < limit
    for (const { key, value } of page) {
      const span = spanOf(key)
      this.#after = key
      this.#ahead = span.last
      if (span.last < from) this.#isListed = true
      else if (span.first < to) this.#listed.push({ value, ...span })
    }
  }

  #meant(requests: readonly KeptRequest[]): KeptRequest[] {
    const { from, to, before, isMeant } = this.#scan
    return requests.filter((request) => {
      const time = timeOfId(request.id)
      return time >= from && time < to && (before === undefined || request.id < before) && isMeant(request)
    })
  }
}

const newestFirst = (a: KeptRequest, b: KeptRequest) => (a.id < b.id ? 1 : a.id > b.id ? -1 : 0)
