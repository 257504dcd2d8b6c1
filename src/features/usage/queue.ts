import type { CancelDeadline } from '../../lib/deadline.ts'
import type { Logger } from '../../types.ts'
import type { UnlistedByTime } from './batch.ts'
import type { StoredRequest } from './request-record.ts'
import type { UnlistedTotals } from './unlisted.ts'

/** Requests that are written in one storage operation. */
export interface Batch {
  /** Batches have consecutive numbers. */
  readonly number: number
  readonly requests: StoredRequest[]
  /** Totals of requests without a record. */
  readonly unlisted: UnlistedByTime
  /** The number of requests in `unlisted`. */
  readonly unlistedCount: number
  /** The approximate size of the requests, in characters. */
  size: number
  /** Resolves when the write has succeeded or failed. */
  readonly finished: Promise<void>
  finish(): void
}

/** Writes batches to storage. */
export interface BatchWriter {
  write(batch: Pick<Batch, 'number' | 'requests' | 'unlisted'>): Promise<void>
  /** Called after each written batch. Must not reject. */
  foldIfDue(): Promise<void>
}

interface QueueOptions {
  logger: Logger
  /** Starts a timer that doesn't keep the process alive. */
  startTimer(ms: number, onExpire: () => void): CancelDeadline
  /** Loads this instance's writer. */
  getWriter(): Promise<BatchWriter>
  /** Maximum characters in a batch. */
  maxCharacters: number
}

/** Maximum time until a batch is written, in ms. */
const BATCH_MS = 1_000
/** A batch of this size is written immediately. While the previous batch is being written, it keeps growing, so a slow storage can keep up. */
const BATCH_REQUESTS = 250
/** Maximum number of waiting requests and their total characters. Requests beyond that are only added to the totals. */
const MAX_WAITING_REQUESTS = 10_000
const MAX_WAITING_SIZE = 8_000_000
/** Maximum delay between write attempts, in ms. */
const MAX_BACKOFF_MS = 30_000
/** Time limit for writing waiting requests when the gateway closes, in ms. */
const CLOSE_TIMEOUT_MS = 5_000

const NO_UNLISTED: UnlistedByTime = new Map()

/**
 * The queue of finished requests. It writes them in order, after their responses, in batches of one second or 250 requests. Batches are larger while
 * a previous write is still in progress. Up to 10,000 requests wait for a slow or unavailable storage. Requests beyond that get no record: they are
 * only added to totals, which are written after the waiting requests.
 */
export class RequestQueue {
  readonly #options: QueueOptions
  readonly #batches: Batch[] = [] // the last batch may still be open
  readonly #listeners: Array<(request: StoredRequest) => void> = []
  #hasOpenBatch = false
  #lastNumber = 0
  #waitingCount = 0
  #waitingSize = 0
  /** Loaded when the queue is half full. */
  #unlisted: UnlistedTotals | undefined = undefined
  #pendingLoad: Promise<void> | undefined = undefined
  /** The number of requests without a record that have been written since the queue was last full. */
  #writtenUnlistedCount = 0
  #isOverflowing = false
  #failureCount = 0
  #isClosing = false
  #hasGivenUp = false
  #pendingWrite: Promise<void> | undefined = undefined
  #pendingFold: Promise<void> | undefined = undefined
  #cancelTimer: CancelDeadline | undefined = undefined

  constructor(options: QueueOptions) {
    this.#options = options
  }

  /** The batches that haven't been written yet, in order. The last one contains the totals of requests without a record, if any. */
  get batches(): ReadonlyArray<Pick<Batch, 'number' | 'requests' | 'unlisted'>> {
    if (!this.#unlisted?.count) return this.#batches
    return [...this.#batches, { number: this.#lastNumber + 1, requests: [], unlisted: this.#unlisted.byTime }]
  }

  /** Queues a finished request. Never throws. `waitUntil` keeps the platform running until the request is written. */
  add(request: StoredRequest, waitUntil?: (work: Promise<unknown>) => void): void {
    for (const listener of this.#listeners) listener(request)
    if (this.#hasGivenUp) {
      this.#logDroppedRecords(1)
      return
    }
    if (this.#unlisted && this.#isFilled(1)) {
      this.#addUnlisted(request, this.#unlisted)
      return
    }
    const batch = this.#getOpenBatch()
    const size = estimateSize(request)
    batch.requests.push(request)
    batch.size += size
    this.#waitingCount++
    this.#waitingSize += size
    waitUntil?.(batch.finished)
    if (this.#isFilled(0.5)) this.#pendingLoad ??= this.#loadUnlisted()
    const isDue = batch.requests.length >= BATCH_REQUESTS && !this.#pendingWrite
    if (isDue || batch.size >= this.#options.maxCharacters) this.#closeBatch()
  }

  /** Returns whether the queue has reached this share of its maximum requests or characters. */
  #isFilled(fraction: number): boolean {
    return this.#waitingCount >= fraction * MAX_WAITING_REQUESTS || this.#waitingSize >= fraction * MAX_WAITING_SIZE
  }

  async #loadUnlisted(): Promise<void> {
    const { UnlistedTotals } = await import('./unlisted.ts')
    this.#unlisted = new UnlistedTotals()
  }

  #addUnlisted(request: StoredRequest, unlisted: UnlistedTotals): void {
    if (!this.#isOverflowing)
      this.#options.logger.warn(
        `${this.#waitingCount} usage records are waiting to be written because the storage is ${this.#failureCount > 0 ? 'unavailable' : 'too slow'}. Until it catches up, further requests are counted in the usage totals but get no individual record.`,
      )
    this.#isOverflowing = true
    unlisted.add(request)
  }

  /** Registers a listener for finished requests. */
  subscribe(listener: (request: StoredRequest) => void): void {
    this.#listeners.push(listener)
  }

  /** Writes all waiting requests. Resolves when the write has succeeded or failed. */
  async flush(): Promise<void> {
    this.#failureCount = 0
    this.#closeBatch()
    while (this.#pendingWrite !== undefined) await this.#pendingWrite // batches that are closed in the meantime are written next
    await this.#pendingFold
  }

  /**
   * Writes all waiting requests once, then calls `afterFlush`. Resolves within 5 s. Requests that can't be written by then are lost, and their number is
   * logged. Also writes requests that finish later, unless any were lost.
   */
  async close(afterFlush: () => Promise<void>): Promise<void> {
    this.#isClosing = true
    let cancel: CancelDeadline | undefined
    const timeout = new Promise<void>((resolve) => {
      cancel = this.#options.startTimer(CLOSE_TIMEOUT_MS, () => {
        if (this.#waitingCount > 0 || this.#unlisted?.count) this.#giveUp()
        resolve()
      })
    })
    await Promise.race([this.flush().then(afterFlush), timeout])
    cancel?.()
  }

  #giveUp(): void {
    this.#hasGivenUp = true
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    this.#hasOpenBatch = false
    let lostCount = this.#waitingCount + (this.#unlisted?.count ?? 0)
    for (const { finish, unlistedCount } of this.#batches.splice(0)) {
      finish()
      lostCount += unlistedCount
    }
    this.#unlisted?.drain(Number.POSITIVE_INFINITY)
    this.#waitingCount = 0
    this.#waitingSize = 0
    this.#logDroppedRecords(lostCount)
  }

  #logDroppedRecords(requestCount: number): void {
    if (requestCount > 0)
      this.#options.logger.error(
        `Usage was lost because the gateway closed while the storage was unavailable: ${requestCount}.`,
      )
  }

  #getOpenBatch(): Batch {
    const lastBatch = this.#batches.at(-1)
    if (lastBatch && this.#hasOpenBatch) return lastBatch
    const batch = this.#addBatch()
    this.#hasOpenBatch = true
    if (this.#failureCount === 0) this.#startTimer(BATCH_MS)
    return batch
  }

  #addBatch(unlisted = NO_UNLISTED, unlistedCount = 0): Batch {
    let finish = () => {}
    const finished = new Promise<void>((resolve) => {
      finish = resolve
    })
    const batch: Batch = {
      number: ++this.#lastNumber,
      requests: [],
      unlisted,
      unlistedCount,
      size: 0,
      finished,
      finish,
    }
    this.#batches.push(batch)
    return batch
  }

  #startTimer(ms: number): void {
    this.#cancelTimer?.()
    this.#cancelTimer = this.#options.startTimer(ms, () => {
      this.#cancelTimer = undefined
      this.#closeBatch()
    })
  }

  #closeBatch(): void {
    this.#hasOpenBatch = false
    if (this.#pendingWrite || this.#batches.length === 0) return
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    this.#pendingWrite = this.#write().then((hasSucceeded) => {
      this.#pendingWrite = undefined
      if (!hasSucceeded && this.#isClosing) this.#giveUp()
      else if (!hasSucceeded) this.#startTimer(Math.min(MAX_BACKOFF_MS, BATCH_MS * 2 ** this.#failureCount))
      else if (!this.#hasOpenBatch || (this.#batches.at(-1)?.requests.length ?? 0) >= BATCH_REQUESTS)
        this.#closeBatch() // another batch is closed or full
      else if (!this.#cancelTimer) this.#startTimer(BATCH_MS)
    })
  }

  /** Writes the closed batches. Resolves to whether all writes succeeded. */
  async #write(): Promise<boolean> {
    for (let batch = this.#getClosedBatch(); batch; batch = this.#getClosedBatch()) {
      try {
        const writer = await this.#options.getWriter()
        await writer.write(batch)
        if (this.#hasGivenUp) return false
        this.#batches.shift()
        this.#onWritten(batch)
        this.#pendingFold = writer.foldIfDue().finally(batch.finish)
      } catch (error) {
        if (this.#failureCount++ === 0)
          this.#options.logger.warn(
            'Usage cannot be written to the storage. It is kept in memory until the storage works again.',
            {
              error: error instanceof Error ? error.message : String(error),
            },
          )
        for (const { finish } of this.#batches) finish()
        return false
      }
    }
    return true
  }

  #getClosedBatch(): Batch | undefined {
    if (this.#failureCount === 0) this.#queueUnlisted()
    return this.#hasOpenBatch && this.#batches.length === 1 ? undefined : this.#batches[0]
  }

  /** Queues batches with the totals of requests without a record, unless such a batch is already waiting. */
  #queueUnlisted(): void {
    if (!this.#unlisted?.count || this.#batches.some(({ unlistedCount }) => unlistedCount > 0)) return
    this.#hasOpenBatch = false // batches are written in numeric order
    for (const { unlisted, count } of this.#unlisted.drain(this.#options.maxCharacters)) this.#addBatch(unlisted, count)
  }

  #onWritten({ requests, size, unlistedCount }: Batch): void {
    this.#failureCount = 0
    this.#waitingCount -= requests.length
    this.#waitingSize -= size
    this.#writtenUnlistedCount += unlistedCount
    if (this.#writtenUnlistedCount === 0 || this.#waitingCount > MAX_WAITING_REQUESTS / 2) return
    if (this.#unlisted?.count || this.#batches.some((batch) => batch.unlistedCount > 0)) return
    this.#options.logger.warn(
      `Usage has been written. ${this.#writtenUnlistedCount} requests are counted in the totals but have no individual record.`,
    )
    this.#writtenUnlistedCount = 0
    this.#isOverflowing = false
  }
}

function estimateSize({ metadata, user, reason, model, attempts, skipped, warnings, guards }: StoredRequest): number {
  let size = 300 + (user?.length ?? 0) + (reason?.length ?? 0) + (model?.length ?? 0) + (skipped?.length ?? 0) * 100
  for (const { message } of attempts) size += 150 + (message?.length ?? 0)
  for (const text of warnings ?? []) size += text.length
  size += (guards?.length ?? 0) * 120
  for (const name in metadata) size += name.length + (metadata[name]?.length ?? 0) + 8
  return size
}
