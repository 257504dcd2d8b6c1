import type { CancelDeadline } from '../../lib/deadline.ts'
import type { Logger } from '../../types.ts'
import type { KeptRequest } from './record.ts'

/** Requests that are written together. */
export interface Batch {
  /** One more than that of the batch before. */
  readonly number: number
  readonly requests: KeptRequest[]
  /** About the characters of its requests. */
  size: number
  /** Resolves when it has been written, or could not be. */
  readonly settled: Promise<void>
  settle(): void
}

/** What writes batches. */
export interface BatchWriter {
  write(batch: Pick<Batch, 'number' | 'requests'>): Promise<void>
  /** Called after each written batch; must not reject. */
  tidy(): Promise<void>
}

interface QueueOptions {
  logger: Logger
  /** Starts a timer that keeps no process alive. */
  startTimer(ms: number, onTime: () => void): CancelDeadline
  /** Loads what writes the batches of this instance. */
  writer(): Promise<BatchWriter>
  /** The most characters of a batch. */
  mostCharacters: number
}

/** A batch is written after this time at the latest, in ms. */
const BATCH_MS = 1_000
/** A batch of so many requests is written at once; while another one is being written it grows on, so that a slow storage keeps up. */
const BATCH_REQUESTS = 100
/** Requests that wait for a storage that is away; more are not kept. */
const MOST_WAITING = 10_000
/** The longest pause between two attempts to write, in ms. */
const LONGEST_PAUSE_MS = 30_000
/** The time for what waits when the gateway closes, in ms. */
const CLOSE_MS = 5_000

/**
 * The requests that are over and not yet written. They are written after the answer, in batches of a second or a hundred, in their order; of more
 * where the batch before is still being written. While the storage is away they wait, up to 10,000 of them, until the gateway closes.
 */
export class RequestQueue {
  readonly #options: QueueOptions
  readonly #batches: Batch[] = [] // the last one may be open
  readonly #listeners: Array<(request: KeptRequest) => void> = []
  #isLastOpen = false
  #number = 0
  #waiting = 0
  #dropped = 0
  #failures = 0
  #isClosing = false
  #hasGivenUp = false
  #writing: Promise<void> | undefined = undefined
  #tidying: Promise<void> | undefined = undefined
  #cancelTimer: CancelDeadline | undefined = undefined

  constructor(options: QueueOptions) {
    this.#options = options
  }

  /** The batches that are not written yet, in their order. */
  get batches(): readonly Batch[] {
    return this.#batches
  }

  /** Never throws. `waitUntil` keeps the platform running until the request is written. */
  add(request: KeptRequest, waitUntil?: (work: Promise<unknown>) => void): void {
    for (const listener of this.#listeners) listener(request)
    if (this.#hasGivenUp) {
      this.#tellLost(1)
      return
    }
    if (this.#waiting >= MOST_WAITING) {
      if (this.#dropped++ === 0)
        this.#options.logger.warn(
          `${MOST_WAITING} requests wait to be kept, and more are not kept until the storage takes them.`,
        )
      return
    }
    const batch = this.#openBatch()
    batch.requests.push(request)
    batch.size += sizeOf(request)
    this.#waiting++
    waitUntil?.(batch.settled)
    const isDue = batch.requests.length >= BATCH_REQUESTS && !this.#writing
    if (isDue || batch.size >= this.#options.mostCharacters) this.#close()
  }

  /** Calls back with each request that is over. */
  listen(listener: (request: KeptRequest) => void): void {
    this.#listeners.push(listener)
  }

  /** Writes what waits; resolves when that is done, or has failed. */
  async flush(): Promise<void> {
    this.#failures = 0
    this.#close()
    while (this.#writing !== undefined) await this.#writing // what was closed meanwhile is written next
    await this.#tidying
  }

  /**
   * Writes what waits, once, and then does `last`; resolves after 5 s at the latest. What cannot be written by then is lost, and the logger is told
   * how many requests that are. Requests that end later are written too, unless some have been lost.
   */
  async close(last: () => Promise<void>): Promise<void> {
    this.#isClosing = true
    let cancel: CancelDeadline | undefined
    const late = new Promise<void>((resolve) => {
      cancel = this.#options.startTimer(CLOSE_MS, () => {
        if (this.#waiting > 0) this.#giveUp()
        resolve()
      })
    })
    await Promise.race([this.flush().then(last), late])
    cancel?.()
  }

  #giveUp(): void {
    this.#hasGivenUp = true
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    this.#isLastOpen = false
    for (const { settle } of this.#batches.splice(0)) settle()
    this.#tellLost(this.#waiting + this.#dropped)
    this.#waiting = 0
    this.#dropped = 0
  }

  #tellLost(requests: number): void {
    if (requests > 0)
      this.#options.logger.error(
        `The usage of requests is lost, as the gateway closed while the storage was away: ${requests}.`,
      )
  }

  #openBatch(): Batch {
    const last = this.#batches.at(-1)
    if (last && this.#isLastOpen) return last
    let settle = () => {}
    const settled = new Promise<void>((resolve) => {
      settle = resolve
    })
    const batch: Batch = { number: ++this.#number, requests: [], size: 0, settled, settle }
    this.#batches.push(batch)
    this.#isLastOpen = true
    if (this.#failures === 0) this.#startTimer(BATCH_MS)
    return batch
  }

  #startTimer(ms: number): void {
    this.#cancelTimer?.()
    this.#cancelTimer = this.#options.startTimer(ms, () => {
      this.#cancelTimer = undefined
      this.#close()
    })
  }

  /** The last batch gets no more requests, and is written. */
  #close(): void {
    this.#isLastOpen = false
    if (this.#writing || this.#batches.length === 0) return
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    this.#writing = this.#write().then((isDone) => {
      this.#writing = undefined
      if (!isDone && this.#isClosing) this.#giveUp()
      else if (!isDone) this.#startTimer(Math.min(LONGEST_PAUSE_MS, BATCH_MS * 2 ** this.#failures))
      else if (!this.#isLastOpen || (this.#batches.at(-1)?.requests.length ?? 0) >= BATCH_REQUESTS)
        this.#close() // another one was closed meanwhile, or has grown
      else if (!this.#cancelTimer) this.#startTimer(BATCH_MS)
    })
  }

  /** Writes the batches that are closed. Resolves to whether that was possible. */
  async #write(): Promise<boolean> {
    for (let batch = this.#closed(); batch; batch = this.#closed()) {
      try {
        const writer = await this.#options.writer()
        await writer.write(batch)
        if (this.#hasGivenUp) return false
        this.#batches.shift()
        this.#waiting -= batch.requests.length
        this.#recovered()
        this.#tidying = writer.tidy().finally(batch.settle)
      } catch (error) {
        if (this.#failures++ === 0)
          this.#options.logger.warn('Usage cannot be written to the storage, and waits in memory.', {
            error: error instanceof Error ? error.message : String(error),
          })
        for (const { settle } of this.#batches) settle()
        return false
      }
    }
    return true
  }

  /** The first of the batches that are closed. */
  #closed(): Batch | undefined {
    return this.#isLastOpen && this.#batches.length === 1 ? undefined : this.#batches[0]
  }

  #recovered(): void {
    this.#failures = 0
    if (this.#dropped > 0 && this.#waiting < MOST_WAITING / 2) {
      this.#options.logger.error(`${this.#dropped} requests were not kept while the storage was away.`)
      this.#dropped = 0
    }
  }
}

/** About how many characters a request takes where it is written. */
function sizeOf({ metadata, user, reason, model, attempts, skipped, warnings }: KeptRequest): number {
  let size = 300 + (user?.length ?? 0) + (reason?.length ?? 0) + (model?.length ?? 0) + (skipped?.length ?? 0) * 100
  for (const { message } of attempts) size += 150 + (message?.length ?? 0)
  for (const text of warnings ?? []) size += text.length
  for (const name in metadata) size += name.length + (metadata[name]?.length ?? 0) + 8
  return size
}
