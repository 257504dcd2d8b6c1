import type { Clock, Storage } from '../../types.ts'
import { addTotalsByHour, MAX_TTL_MS, PartialWriteError, TotalsByHour } from './add-totals.ts'
import { decodeBatch, encodeBatch, type UnlistedByTime } from './batch.ts'
import { createJournalFold } from './fold-journal.ts'
import {
  DAY_MS,
  getJournalKey,
  getJournalPrefix,
  getRequestsKey,
  HOUR_MS,
  JOURNAL_PREFIX,
  parseJournalKey,
} from './layout.ts'
import { type OpenValue, OpenValues, type PlacedRows } from './open-value.ts'
import type { Batch, BatchWriter } from './queue.ts'
import { removeOldest } from './remove-oldest.ts'
import { encodeRows } from './usage-codec.ts'

/** Retention in days. */
export interface RetentionDays {
  requests: number
  totals: number
}

export interface KeeperOptions {
  storage: Storage
  clock: Clock
  /** This instance's unique name in storage. */
  instanceId: string
  /** Returns the retention periods. Rejects if the settings can't be read. */
  readRetention(): Promise<RetentionDays>
  /** Maximum number of characters in a value. */
  maxCharacters: number
  /** Yields to the event loop so other work can run. */
  nextTurn(): Promise<void>
  onError(error: unknown): void
}

/** An instance folds its batches when it reaches one of these thresholds: number of batches, number of requests, or age of the first batch in ms. */
const FOLD_BATCHES = 100
const FOLD_REQUESTS = 10_000
const FOLD_MS = 2 * 60 * 1_000
/** Age, in ms, at which a batch's instance is assumed to have been killed. Other instances then fold the batch. */
const LOST_AFTER_MS = 10 * 60 * 1_000
/** How often an instance looks for batches of killed instances, in ms. */
const LOST_CHECK_MS = 5 * 60 * 1_000
/** Maximum numbers of requests and batches to keep in memory until they are folded. If there are more, they are read back from the journal. */
const MAX_UNFOLDED_REQUESTS = 4 * FOLD_REQUESTS
const MAX_UNFOLDED_BATCHES = 4 * FOLD_BATCHES
const MAX_CONCURRENT_WRITES = 8

/** The request values and totals that the next fold writes. */
class UnfoldedJournal {
  batchCount = 0
  requestCount = 0
  readonly values = new Set<OpenValue>()
  readonly sums = new TotalsByHour()
}

/** An encoded batch, reused if the write is retried. */
interface PreparedBatch {
  number: number
  text: string
  placedRows: PlacedRows[]
}

/**
 * Writes batches and folds them into the request values and totals that readers use (layout.ts). After a crash at any point, any instance can repeat
 * any step. Request IDs are unique, and totals contain the number of each instance's last included batch. Each request is encoded once, for its
 * future request value, and added to the totals once its batch is in the journal. Folding only writes the result.
 */
export class Keeper implements BatchWriter {
  readonly #options: KeeperOptions
  readonly #openValues: OpenValues
  #preparedBatch: PreparedBatch | undefined
  /**
   * Keys of values that have been replaced by newer ones. They are deleted only with the next fold, because a list operation in progress may still
   * need them.
   */
  readonly #outdatedKeys: string[] = []
  #isClosing = false
  /** `undefined` if the batches must be read back because a fold failed or because there are too many to keep in memory. */
  #unfolded: UnfoldedJournal | undefined = new UnfoldedJournal()
  #nameCount = 0
  #batchNumbers: number[] = []
  #requestCount = 0
  #firstWrittenAt = 0
  #lastCheckedAt = Number.NEGATIVE_INFINITY
  #pendingFold: Promise<void> | undefined = undefined
  readonly #foldJournal: ReturnType<typeof createJournalFold>

  constructor(options: KeeperOptions) {
    this.#options = options
    this.#openValues = new OpenValues(options.maxCharacters)
    this.#foldJournal = createJournalFold(options, () => this.#createName())
  }

  async write(batch: Pick<Batch, 'number' | 'requests' | 'unlisted'>): Promise<void> {
    const { storage, clock, instanceId, readRetention } = this.#options
    const { number, requests } = batch
    const now = clock.now()
    const ttlMs = (await readRetention()).totals * DAY_MS
    if (this.#preparedBatch?.number !== number) {
      const placedRows = this.#openValues.encodeRows(requests)
      const parts = placedRows.map(({ value, rows }) => encodeRows(value.stringTable.takeUsedTexts(), rows))
      this.#preparedBatch = { number, placedRows, text: encodeBatch(parts, batch.unlisted, now) }
    }
    const { text, placedRows } = this.#preparedBatch
    await storage.set(getJournalKey(instanceId, number), text, { ttlMs, durability: 'relaxed' })
    this.#preparedBatch = undefined
    if (this.#batchNumbers.push(number) === 1) this.#firstWrittenAt = now
    this.#requestCount += requests.length
    this.#addUnfolded(batch.unlisted, placedRows)
  }

  #addUnfolded(unlisted: UnlistedByTime, placedRows: readonly PlacedRows[]): void {
    const unfolded = this.#unfolded
    if (!unfolded) return
    if (unfolded.requestCount > MAX_UNFOLDED_REQUESTS || unfolded.batchCount > MAX_UNFOLDED_BATCHES) {
      this.#discardUnfolded()
      return
    }
    const { values, sums } = unfolded
    unfolded.batchCount++
    for (const { value, rows, span, requests } of placedRows) {
      value.add(rows, span)
      unfolded.requestCount += rows.length
      values.add(value)
      const totals = sums.getTotals(value.shard, value.hour)
      for (const request of requests) totals.addRequest(request)
    }
    for (const [time, totals] of unlisted) sums.addUnlisted(time, totals)
  }

  #discardUnfolded(): void {
    this.#unfolded = undefined
    this.#openValues.clear()
  }

  /** Folds this instance's batches if they are due, and batches of killed instances. Never rejects. */
  foldIfDue(): Promise<void> {
    this.#pendingFold ??= this.#foldIfDue()
      .catch(this.#options.onError)
      .finally(() => {
        this.#pendingFold = undefined
      })
    return this.#pendingFold
  }

  async #foldIfDue(): Promise<void> {
    const now = this.#options.clock.now()
    const isFull = this.#batchNumbers.length >= FOLD_BATCHES || this.#requestCount >= FOLD_REQUESTS
    if (isFull || (this.#batchNumbers.length > 0 && Math.abs(now - this.#firstWrittenAt) >= FOLD_MS))
      await this.#foldOwnBatches()
    if (Math.abs(now - this.#lastCheckedAt) >= LOST_CHECK_MS) {
      this.#lastCheckedAt = now
      await this.#foldLostInstances(now)
    }
  }

  /** Folds all of this instance's batches. Rejects if writing to storage fails. */
  async close(): Promise<void> {
    await this.#pendingFold
    this.#isClosing = true
    if (this.#batchNumbers.length > 0) await this.#foldOwnBatches()
    await this.#deleteOutdated()
  }

  async #deleteOutdated(): Promise<void> {
    const { storage } = this.#options
    await Promise.all(this.#outdatedKeys.splice(0).map((key) => storage.delete(key)))
  }

  async #foldOwnBatches(): Promise<void> {
    const { storage, instanceId, clock } = this.#options
    const unfolded = this.#unfolded
    const batchNumbers = [...this.#batchNumbers] // more batches may be written in the meantime
    const requestCount = this.#requestCount
    this.#unfolded = new UnfoldedJournal()
    try {
      if (unfolded && (await this.#foldUnfolded(unfolded, batchNumbers))) {
        await Promise.all(batchNumbers.map((number) => storage.delete(getJournalKey(instanceId, number)))) // a single commit in the file store
      } else await this.#foldJournal(instanceId, batchNumbers.at(-1))
    } catch (error) {
      this.#discardUnfolded()
      throw error
    }
    this.#batchNumbers.splice(0, batchNumbers.length)
    this.#requestCount -= requestCount
    this.#firstWrittenAt = clock.now()
    await removeOldest(this.#options)
  }

  /** Resolves to `false` if another instance folded some of the batches while this one was suspended. */
  async #foldUnfolded({ values, sums }: UnfoldedJournal, numbers: readonly number[]): Promise<boolean> {
    const { instanceId } = this.#options
    const retention = await this.#options.readRetention()
    await this.#deleteOutdated()
    const pendingValues = [...values]
    while (pendingValues.length > 0) {
      await Promise.all(
        pendingValues.splice(0, MAX_CONCURRENT_WRITES).map((value) => this.#writeValue(value, retention)),
      )
      await this.#options.nextTurn()
    }
    const batches = [{ first: numbers[0] ?? 0, last: numbers.at(-1) ?? 0, sums }]
    try {
      await addTotalsByHour(this.#options, { instanceId, days: retention }, batches)
    } catch (error) {
      if (error instanceof PartialWriteError) return false
      throw error
    }
    const newestHour = Math.max(...Array.from(sums.hours.values(), ({ hour }) => hour))
    this.#openValues.closeBefore(newestHour - HOUR_MS)
    return true
  }

  async #writeValue(value: OpenValue, retention: RetentionDays): Promise<void> {
    const { storage, clock } = this.#options
    const now = clock.now()
    const ttlMs = Math.min(value.span.last + retention.requests * DAY_MS - now, MAX_TTL_MS)
    if (ttlMs < 1) return // the retention period has ended
    const previousWrite = value.lastWrite
    const omittedCount = this.#isClosing ? (previousWrite?.rows ?? 0) : 0 // no later fold will delete the old value
    const rowCount = value.rows.length
    const key = getRequestsKey(value.shard, value.span, rowCount - omittedCount, this.#createName())
    await storage.set(key, value.encode(now, omittedCount), { ttlMs, durability: 'relaxed' })
    value.lastWrite = { key, rows: rowCount }
    if (previousWrite && omittedCount === 0) this.#outdatedKeys.push(previousWrite.key)
  }

  #createName(): string {
    return `${this.#options.instanceId}-${++this.#nameCount}`
  }

  async #foldLostInstances(now: number): Promise<void> {
    const { storage, instanceId: ownInstanceId, onError } = this.#options
    for (let after = JOURNAL_PREFIX; ; ) {
      const [first] = await storage.list(JOURNAL_PREFIX, { after, limit: 1 })
      if (!first) return
      const { instanceId } = parseJournalKey(first.key)
      const batchTime = decodeBatch(first.value)?.writtenAt ?? 0
      if (instanceId !== ownInstanceId && now - batchTime > LOST_AFTER_MS)
        await this.#foldJournal(instanceId).catch(onError) // continue with the other instances
      after = `${getJournalPrefix(instanceId)}~`
    }
  }
}
