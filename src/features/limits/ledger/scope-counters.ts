import { gatewayError, isGatewayError } from '../../../errors.ts'
import { startDeadline } from '../../../lib/deadline.ts'
import { getCountersKey } from '../../../records/record-collections.ts'
import { handleStorageError, isStorageUnavailable, RETRY_AFTER_MS } from '../../../records/storage-access.ts'
import type { LimitState, UsageLimits } from '../../../types/limits.ts'
import type { Clock, Storage } from '../../../types.ts'
import { type IntegerAmounts, NO_AMOUNTS } from './amounts.ts'
import {
  type Book,
  createBook,
  decodeBook,
  emptyEntry,
  encodeBook,
  type InstanceEntry,
  isEmptyEntry,
  mergeBooks,
  type SideSpending,
} from './book.ts'
import { type Decision, decide, getLimitStates, type HoldRequest, type ScopeName } from './decide.ts'
import { type CounterChange, type CounterOperation, Draft, type HoldOutcome } from './draft.ts'
import { createLostInstanceTracker, type LostInstanceTracker } from './lost-instances.ts'
import { toMinute } from './windows.ts'

/** Dependencies that all of a process's counters share. */
export interface ScopeCountersDependencies {
  storage: Storage
  clock: Clock
  /** Returns a number from 0 (inclusive) to 1 (exclusive). */
  random(): number
  /** Starts a timer that doesn't keep the process alive. */
  startTimer(ms: number, onExpire: () => void): () => void
  /** Resolves at the end of the current event loop turn. */
  nextTurn(): Promise<void>
  onError(error: unknown): void
  /** This process's ID. */
  instanceId: string
}

/**
 * How long a hold waits for requests that are pending on other instances, in ms. Pending requests take a few round trips, unless an instance crashes.
 */
const MAX_BLOCKED_MS = 1_000
/** Maximum time between writes while this instance has reservations, in ms. */
export const HEARTBEAT_MS = 15_000
const MAX_RETRY_MS = 30_000
/**
 * How long account and token counters are stored after the last write, in ms. Account counters outlast any window and never expire if there is a
 * total limit.
 */
const RETENTION_MS = { account: 62 * 24 * 60 * 60 * 1_000, run: 2 * 24 * 60 * 60 * 1_000 }
/** Maximum number of consecutive conflicts. Enough for this many concurrent writers. */
const MAX_CONFLICTS = 200
/** Number of conflicts or polls before retries back off. */
const MAX_EAGER_RETRIES = 3

/**
 * The counters of one scope, stored in a single record. All pending changes go into one write, on the condition that the record still has the version
 * last read or written. Without conflicts, each write takes one round trip. After a conflict, the record is reread and everything is decided again. A
 * decision is returned after the write that it depends on or, if nothing needs writing, after a read has shown no changes.
 */
export class ScopeCounters {
  readonly #deps: ScopeCountersDependencies
  readonly #name: ScopeName
  readonly #key: string
  readonly #instanceTracker: LostInstanceTracker
  #queue: CounterOperation[] = []
  /** The queued operations that are blocked and waiting. */
  #waitingOperations: ReadonlySet<CounterOperation> = new Set()
  #currentRun: Promise<void> | undefined
  #book: Book | undefined
  /** Whether the book must be read before it is used. */
  #isStale = true
  /** `null` means that the record doesn't exist. */
  #version: string | null = null
  /** This instance's reservations that are known to be in storage. */
  #ownEntry: InstanceEntry = emptyEntry
  #generation = 0
  #sequence = 0
  /** The sequence number of the last write that is known to have succeeded. */
  #confirmedSequence = 0
  /** Writes whose result is unknown. */
  #unconfirmedWrites: Array<{ sequence: number; draft: Draft }> = []
  #mustWrite = false
  #wroteAt = 0
  #retryMs = RETRY_AFTER_MS
  #cancelTimer: (() => void) | undefined
  usedAt = 0
  /** Whether the record stays in storage even if it is never used again. */
  #isPermanent: boolean

  constructor(deps: ScopeCountersDependencies, name: ScopeName) {
    this.#deps = deps
    this.#name = name
    this.#key = getCountersKey(name.scope, name.id)
    this.#isPermanent = name.scope !== 'account' && name.scope !== 'run'
    this.#instanceTracker = createLostInstanceTracker(deps.instanceId)
  }

  /** Whether the counters can be dropped from memory, because this process has no pending operations or reservations in this scope. */
  get isIdle(): boolean {
    return !this.#currentRun && this.#queue.length === 0 && !this.#mustWrite && isEmptyEntry(this.#ownEntry)
  }

  /**
   * Reserves amounts. With `isPending`, the reservation can still be released if another scope rejects the request. With `waits`, the hold waits up
   * to a second for pending reservations by other requests that block it. If it rejects with `STORAGE_UNAVAILABLE`, `STORAGE_FAILED`, or
   * `RECORD_DAMAGED`, nothing is reserved.
   */
  hold(
    requested: Omit<HoldRequest, 'name'>,
    { isPending, waits }: { isPending: boolean; waits: boolean },
  ): Promise<HoldOutcome> {
    const deadline = waits ? this.#deps.clock.now() + MAX_BLOCKED_MS : 0
    if (this.#name.scope === 'account' && !this.#isPermanent) this.#isPermanent = hasTotalLimit(requested.limits)
    return new Promise((resolve, reject) => {
      let hasFailed = false
      const done = (outcome: HoldOutcome) => {
        if (!hasFailed) return resolve(outcome)
        if (outcome.kind !== 'granted') return // a granted reservation must be released, because the caller was told that the write had failed
        this.enqueueChange({
          ...outcome,
          released: outcome.amounts,
          decided: isPending ? outcome.amounts : NO_AMOUNTS,
          spent: NO_AMOUNTS,
        })
      }
      const fail = (error: unknown) => {
        hasFailed = true
        reject(error)
      }
      this.#enqueue({ kind: 'hold', request: { ...requested, name: this.#name }, isPending, deadline, done, fail })
    })
  }

  /** Changes the reserved or used amounts. Writes the change in the background and retries while storage is unavailable. */
  enqueueChange(change: CounterChange): void {
    if (isZero(change.released) && isZero(change.decided) && isZero(change.spent)) return
    this.#enqueue({ kind: 'change', change })
  }

  /** Decides on amounts without reserving them. Rejects with the same errors as `hold`. */
  evaluate(requested: Omit<HoldRequest, 'name'>): Promise<Decision> {
    return this.#enqueueTask(({ view }) => decide({ ...requested, name: this.#name }, view))
  }

  /** Prefetches the counters if they aren't in memory, so the next operation doesn't have to read them. Never throws. */
  prepare(): void {
    if (this.#isStale && !this.#currentRun) this.#currentRun = this.#readAhead()
  }

  async #readAhead(): Promise<void> {
    const book = await this.#read().catch(() => undefined) // the next operation reads again and reports the failure
    if (book) this.#book = book
    this.#currentRun = undefined
    if (this.#queue.length > 0 || this.#mustWrite) this.#startRun()
  }

  /** Returns the current state of the limits. Rejects with the same errors as `hold`. */
  getStates(limits: UsageLimits): Promise<LimitState[]> {
    return this.#enqueueTask(({ view }) => getLimitStates(this.#name, limits, view))
  }

  /** Resets all counters for the current windows, even if the record is damaged. In-flight requests stay reserved. */
  reset(): Promise<void> {
    return this.#enqueueTask((draft) => draft.resetCounters(), { repairs: true })
  }

  /** Ends the reservations of lost instances, counting either all or none of them as spent. */
  settleLost(as: 'spent' | 'unspent'): Promise<void> {
    return this.#enqueueTask((draft) => draft.settleLost(as))
  }

  /** Stores the usage on the other side of a replica. Rejects with the same errors as `hold`. */
  applySpending(side: string, spent: SideSpending): Promise<void> {
    return this.#enqueueTask((draft) => draft.applySpending(side, spent))
  }

  /** Removes the counters. In-flight requests are no longer counted. */
  async forget(): Promise<void> {
    await this.waitForWrites()
    await this.#deps.storage.delete(this.#key).catch(handleStorageError('write', this.#key))
    this.#handleDeletion()
    this.#book = undefined
    this.#version = null
    this.#isStale = true
  }

  /** Shows other instances that this one is alive, if it has reservations and hasn't written recently. */
  sendHeartbeat(now: number): void {
    if (isEmptyEntry(this.#ownEntry) || Math.abs(now - this.#wroteAt) < HEARTBEAT_MS - 1_000) return
    this.#mustWrite = true
    this.#startRun()
  }

  /** Resolves when all pending changes have been written or have failed. */
  async waitForWrites(): Promise<void> {
    while (this.#currentRun !== undefined) await this.#currentRun
  }

  /** Writes all pending changes, retrying once on failure, and stops background writes. */
  async close(): Promise<void> {
    await this.waitForWrites()
    if (this.#queue.length > 0 || this.#mustWrite) this.#startRun()
    await this.waitForWrites()
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
  }

  #enqueueTask<T>(work: (draft: Draft) => T, { repairs = false } = {}): Promise<T> {
    return new Promise((resolve, fail) => {
      const run = (draft: Draft) => {
        const result = work(draft)
        return () => resolve(result)
      }
      this.#enqueue({ kind: 'task', repairs, run, fail })
    })
  }

  #enqueue(operation: CounterOperation): void {
    this.#queue.push(operation)
    this.#startRun()
  }

  #startRun(): void {
    this.#currentRun ??= this.#processQueue()
  }

  async #processQueue(): Promise<void> {
    await this.#deps.nextTurn() // all operations that are added in the same turn go into the same write
    let conflicts = 0
    let polls = 0
    let failures = 0
    while (this.#queue.length > 0 || this.#mustWrite) {
      try {
        const isDone = await this.#commit()
        if (isDone) {
          this.#retryMs = RETRY_AFTER_MS
          conflicts = 0
          failures = 0
          if (this.#mustWrite || !this.#queue.every((operation) => this.#waitingOperations.has(operation))) continue
          if (this.#queue.length === 0) break
          this.#isStale = true
          if (++polls > MAX_EAGER_RETRIES) {
            this.#retryLater(2 + this.#deps.random() * 8)
            break
          }
        } else if (++conflicts > MAX_CONFLICTS) throw createConflictLimitError()
        else if (conflicts > MAX_EAGER_RETRIES) await this.#wait(this.#deps.random() * Math.min(2 ** conflicts, 50))
      } catch (error) {
        this.#isStale = true
        if (isStorageUnavailable(error) && ++failures === 1) continue
        this.#failPending(error)
        break
      }
    }
    this.#currentRun = undefined
  }

  /** Commits the queue. Resolves to whether all operations in the queue were decided and, if necessary, written. */
  async #commit(): Promise<boolean> {
    if (this.#isStale || !this.#book) this.#book = await this.#read()
    if (this.#queue.length === 0 && !this.#mustWrite) return true // a write with an unknown result has succeeded after all
    const { clock, instanceId } = this.#deps
    const draft = new Draft({
      book: this.#book,
      instanceId,
      ownEntry: this.#ownEntry,
      generation: this.#generation,
      instanceTracker: this.#instanceTracker,
      now: clock.now(),
    })
    draft.isChanged = this.#mustWrite
    for (const operation of this.#queue) draft.apply(operation)
    if (draft.isChanged) return this.#write(draft)
    const version = this.#version
    this.#book = await this.#read()
    if (this.#version !== version) return false
    this.#deliverOutcomes(draft)
    return true
  }

  async #write(draft: Draft): Promise<boolean> {
    const { storage, clock, instanceId } = this.#deps
    const sequence = ++this.#sequence
    const now = clock.now()
    draft.book.entries.set(instanceId, { ...draft.ownEntry, beat: Math.floor(now / 1_000), sequence })
    this.#unconfirmedWrites.push({ sequence, draft })
    const version = await storage
      .set(this.#key, encodeBook(draft.book), {
        ifVersion: this.#version,
        durability: 'relaxed',
        ...(!this.#isPermanent && { ttlMs: RETENTION_MS[this.#name.scope === 'run' ? 'run' : 'account'] }),
      })
      .catch(handleStorageError('write', this.#key))
    if (version === false) {
      this.#isStale = true
      return false
    }
    this.#book = draft.book
    this.#version = version
    this.#confirmWrite(sequence, draft)
    return true
  }

  /** Reads the current state. Detects whether a write with an unknown result has succeeded after all. */
  async #read(): Promise<Book> {
    const { storage, clock, instanceId } = this.#deps
    const stored = await storage.get(this.#key).catch(handleStorageError('read', this.#key))
    const now = clock.now()
    const book = stored ? this.#decodeText(stored.value) : createBook(toMinute(now))
    const entry = book.entries.get(instanceId)
    const isStaleRead = !storage.atomic && this.#book !== undefined && (entry?.sequence ?? 0) < this.#confirmedSequence
    const wasDeleted = !stored && this.#version !== null && !isStaleRead
    this.#version = stored?.version ?? null
    this.#isStale = false
    if (wasDeleted) this.#handleDeletion()
    this.#instanceTracker.observe(book, now)
    const confirmedWrite = entry && this.#unconfirmedWrites.find(({ sequence }) => sequence === entry.sequence)
    if (confirmedWrite) this.#confirmWrite(confirmedWrite.sequence, confirmedWrite.draft)
    this.#sequence = Math.max(this.#sequence, entry?.sequence ?? 0)
    return isStaleRead && this.#book ? mergeBooks(book, this.#book) : book
  }

  #decodeText(text: string): Book {
    try {
      return decodeBook(this.#key, text)
    } catch (error) {
      const willBeRepaired = this.#queue.some((operation) => operation.kind === 'task' && operation.repairs)
      if (willBeRepaired && isGatewayError(error, 'RECORD_DAMAGED')) return createBook(toMinute(this.#deps.clock.now()))
      throw error
    }
  }

  /** Handles the deletion of the record, because its key or group was deleted. */
  #handleDeletion(): void {
    this.#ownEntry = emptyEntry
    this.#generation++
    this.#unconfirmedWrites = []
    this.#mustWrite = false
  }

  /** Records that a write succeeded, which means that no earlier write can still take effect. */
  #confirmWrite(sequence: number, draft: Draft): void {
    this.#confirmedSequence = sequence
    this.#unconfirmedWrites = []
    this.#mustWrite = false
    this.#wroteAt = this.#deps.clock.now()
    this.#deliverOutcomes(draft)
  }

  #deliverOutcomes(draft: Draft): void {
    this.#ownEntry = draft.ownEntry
    const { finishedOperations } = draft
    this.#queue = this.#queue.filter((operation) => !finishedOperations.has(operation))
    this.#waitingOperations = draft.waitingOperations
    for (const deliver of draft.outcomeCallbacks) deliver()
  }

  /** Fails all operations that callers can repeat. Keeps the changes and retries them later. */
  #failPending(error: unknown): void {
    const failure =
      isStorageUnavailable(error) && !isGatewayError(error, 'STORAGE_UNAVAILABLE') ? toUnavailableError(error) : error
    const remainingOperations: CounterOperation[] = []
    for (const operation of this.#queue) {
      if (operation.kind === 'change') remainingOperations.push(operation)
      else operation.fail(failure)
    }
    this.#queue = remainingOperations
    if (this.#unconfirmedWrites.length > 0) this.#mustWrite = true // one of them may still take effect
    if (remainingOperations.length === 0 && !this.#mustWrite) return
    if (this.#retryMs === RETRY_AFTER_MS) this.#deps.onError(failure)
    this.#retryLater(this.#retryMs * (0.5 + this.#deps.random() / 2))
    this.#retryMs = Math.min(MAX_RETRY_MS, this.#retryMs * 2)
  }

  #retryLater(ms: number): void {
    this.#cancelTimer?.()
    this.#cancelTimer = this.#deps.startTimer(ms, () => {
      this.#cancelTimer = undefined
      this.#startRun()
    })
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => void startDeadline(this.#deps.clock, ms, resolve))
  }
}

const hasTotalLimit = ({ requests, tokens, usd }: UsageLimits) =>
  (requests?.total ?? tokens?.total ?? usd?.total) !== undefined

const isZero = ({ requests, parallel, tokens, usd }: IntegerAmounts) => requests + parallel + tokens + usd === 0

const toUnavailableError = (cause: unknown) =>
  gatewayError('STORAGE_UNAVAILABLE', { cause, data: { what: 'write', isAway: true } })

const createConflictLimitError = () =>
  gatewayError('STORAGE_FAILED', {
    message: `A write to the storage conflicted with other writers ${MAX_CONFLICTS} times in a row.`,
  })
