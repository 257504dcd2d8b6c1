import { gatewayError, isGatewayError } from '../../../errors.ts'
import { startDeadline } from '../../../lib/deadline.ts'
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
import { getRecordKey } from './scope-spending.ts'
import { toMinute } from './windows.ts'

/** Dependencies that the counters of one process share. */
export interface ScopeCountersDependencies {
  storage: Storage
  clock: Clock
  /** From 0 (inclusive) to 1. */
  random(): number
  /** Starts a timer that doesn't keep the process alive. */
  startTimer(ms: number, onTime: () => void): () => void
  /** Resolves at the end of the event loop's turn. */
  nextTurn(): Promise<void>
  onError(error: unknown): void
  /** The ID of this process. */
  instanceId: string
}

/** How long a hold waits for requests that are pending on other instances, in ms. Unless an instance crashes, they take a few round trips. */
const MAX_BLOCKED_MS = 1_000
/** The longest time between writes while this instance holds something, in ms. */
export const HEARTBEAT_MS = 15_000
const MAX_RETRY_MS = 30_000
/**
 * How long counters of accounts and tokens are kept after the last write, in ms. Counters of accounts outlast any window, and never expire under a total limit.
 */
const RETENTION_MS = { account: 62 * 24 * 60 * 60 * 1_000, run: 2 * 24 * 60 * 60 * 1_000 }
/** The maximum number of conflicts in a row; enough for this many concurrent writers. */
const MAX_CONFLICTS = 200
/** The number of conflicts or polls after which retries start to wait. */
const MAX_EAGER_RETRIES = 3

/**
 * The counters of one scope, which are one record in the storage. All pending changes go into one write, on the condition that the version is the one
 * last read or written. While no other instance writes, each write takes one round trip. After a conflict, the record is reread, and everything is
 * decided again. A decision is returned only after the write it depends on or, if nothing has to be written, after a read has shown that nothing
 * changed.
 */
export class ScopeCounters {
  readonly #deps: ScopeCountersDependencies
  readonly #name: ScopeName
  readonly #key: string
  readonly #observation: LostInstanceTracker
  #queue: CounterOperation[] = []
  /** The queued operations that are blocked and waiting. */
  #waiting: ReadonlySet<CounterOperation> = new Set()
  #running: Promise<void> | undefined
  #book: Book | undefined
  /** Whether the book must be read before it is used. */
  #isStale = true
  /** `null` means that the record doesn't exist. */
  #version: string | null = null
  /** This instance's reservations that are known to be stored. */
  #own: InstanceEntry = emptyEntry
  #generation = 0
  #sequence = 0
  /** The sequence of the last write that is known to have succeeded. */
  #confirmed = 0
  /** Writes whose result is unknown. */
  #unconfirmedWrites: Array<{ sequence: number; draft: Draft }> = []
  #mustWrite = false
  #wroteAt = 0
  #retryMs = RETRY_AFTER_MS
  #cancelTimer: (() => void) | undefined
  usedAt = 0
  /** Whether the record stays in the storage even if it is never used again. */
  #isPermanent: boolean

  constructor(deps: ScopeCountersDependencies, name: ScopeName) {
    this.#deps = deps
    this.#name = name
    this.#key = getRecordKey(name)
    this.#isPermanent = name.scope !== 'account' && name.scope !== 'run'
    this.#observation = createLostInstanceTracker(deps.instanceId)
  }

  /** Whether the counters can be dropped from memory, because this process has no reservations or operations there. */
  get isIdle(): boolean {
    return !this.#running && this.#queue.length === 0 && !this.#mustWrite && isEmptyEntry(this.#own)
  }

  /**
   * Reserves amounts. With `isPending`, the reservation is released if another scope rejects the request. With `waits`, the hold waits up to a second
   * for other requests' pending reservations that block it. Rejects with `STORAGE_UNAVAILABLE`, `STORAGE_FAILED`, or `RECORD_DAMAGED`. In that case,
   * nothing is reserved.
   */
  hold(
    requested: Omit<HoldRequest, 'name'>,
    { isPending, waits }: { isPending: boolean; waits: boolean },
  ): Promise<HoldOutcome> {
    const until = waits ? this.#deps.clock.now() + MAX_BLOCKED_MS : 0
    if (this.#name.scope === 'account' && !this.#isPermanent) this.#isPermanent = hasTotal(requested.limits)
    return new Promise((resolve, reject) => {
      let hasFailed = false
      const done = (outcome: HoldOutcome) => {
        if (!hasFailed) return resolve(outcome)
        if (outcome.kind !== 'granted') return // the write that granted it appeared to have failed
        this.change({
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
      this.#add({ kind: 'hold', request: { ...requested, name: this.#name }, isPending, until, done, fail })
    })
  }

  /** Changes the reserved or used amounts. Writes the change in the background, and retries while the storage is unavailable. */
  change(change: CounterChange): void {
    if (isZero(change.released) && isZero(change.decided) && isZero(change.spent)) return
    this.#add({ kind: 'change', change })
  }

  /** Decides on amounts without reserving them. Rejects with the same errors as `hold`. */
  evaluate(requested: Omit<HoldRequest, 'name'>): Promise<Decision> {
    return this.#task(({ view }) => decide({ ...requested, name: this.#name }, view))
  }

  /** Reads the account if it isn't in memory, so the next operation doesn't have to. Never throws. */
  prepare(): void {
    if (this.#isStale && !this.#running) this.#running = this.#readAhead()
  }

  async #readAhead(): Promise<void> {
    const book = await this.#read().catch(() => undefined) // the operation reads it again, and reports the failure
    if (book) this.#book = book
    this.#running = undefined
    if (this.#queue.length > 0 || this.#mustWrite) this.#start()
  }

  /** Returns the current limits. Rejects with the same errors as `hold`. */
  getStates(limits: UsageLimits): Promise<LimitState[]> {
    return this.#task(({ view }) => getLimitStates(this.#name, limits, view))
  }

  /** Resets all counters of the current windows, even if the record is damaged; in-flight requests stay reserved. */
  reset(): Promise<void> {
    return this.#task((draft) => draft.resetCounters(), { repairs: true })
  }

  /** Ends the reservations of lost instances, counting all of them as spent, or none. */
  settleLost(as: 'spent' | 'unspent'): Promise<void> {
    return this.#task((draft) => draft.settleLost(as))
  }

  /** Stores usage from the other side of a replica. Rejects with the same errors as `hold`. */
  applySpending(side: string, spent: SideSpending): Promise<void> {
    return this.#task((draft) => draft.applySpending(side, spent))
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
    if (isEmptyEntry(this.#own) || Math.abs(now - this.#wroteAt) < HEARTBEAT_MS - 1_000) return
    this.#mustWrite = true
    this.#start()
  }

  /** Resolves when all pending changes have been written or have failed. */
  async waitForWrites(): Promise<void> {
    while (this.#running !== undefined) await this.#running
  }

  /** Writes all pending changes, retrying once on failure, and stops background writes. */
  async close(): Promise<void> {
    await this.waitForWrites()
    if (this.#queue.length > 0 || this.#mustWrite) this.#start()
    await this.waitForWrites()
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
  }

  #task<T>(work: (draft: Draft) => T, { repairs = false } = {}): Promise<T> {
    return new Promise((resolve, fail) => {
      const run = (draft: Draft) => {
        const result = work(draft)
        return () => resolve(result)
      }
      this.#add({ kind: 'task', repairs, run, fail })
    })
  }

  #add(operation: CounterOperation): void {
    this.#queue.push(operation)
    this.#start()
  }

  #start(): void {
    this.#running ??= this.#run()
  }

  async #run(): Promise<void> {
    await this.#deps.nextTurn() // everything added in the same turn goes into the same write
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
          if (this.#mustWrite || !this.#queue.every((operation) => this.#waiting.has(operation))) continue
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
    this.#running = undefined
  }

  /** Commits the queue. Resolves to whether all waiting operations were decided and, if necessary, written. */
  async #commit(): Promise<boolean> {
    if (this.#isStale || !this.#book) this.#book = await this.#read()
    if (this.#queue.length === 0 && !this.#mustWrite) return true // a write whose result was unknown has succeeded after all
    const { clock, instanceId } = this.#deps
    const draft = new Draft({
      book: this.#book,
      instanceId,
      own: this.#own,
      generation: this.#generation,
      observation: this.#observation,
      now: clock.now(),
    })
    draft.isChanged = this.#mustWrite
    for (const operation of this.#queue) draft.apply(operation)
    if (draft.isChanged) return this.#write(draft)
    const version = this.#version
    this.#book = await this.#read()
    if (this.#version !== version) return false
    this.#deliver(draft)
    return true
  }

  async #write(draft: Draft): Promise<boolean> {
    const { storage, clock, instanceId } = this.#deps
    const sequence = ++this.#sequence
    const now = clock.now()
    draft.book.entries.set(instanceId, { ...draft.own, beat: Math.floor(now / 1_000), sequence })
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

  /** Reads the current state. Detects if a write whose result was unknown succeeded after all. */
  async #read(): Promise<Book> {
    const { storage, clock, instanceId } = this.#deps
    const stored = await storage.get(this.#key).catch(handleStorageError('read', this.#key))
    const now = clock.now()
    const book = stored ? this.#readText(stored.value) : createBook(toMinute(now))
    const entry = book.entries.get(instanceId)
    const isOld = !storage.atomic && this.#book !== undefined && (entry?.sequence ?? 0) < this.#confirmed
    const isGone = !stored && this.#version !== null && !isOld
    this.#version = stored?.version ?? null
    this.#isStale = false
    if (isGone) this.#handleDeletion()
    this.#observation.observe(book, now)
    const created = entry && this.#unconfirmedWrites.find(({ sequence }) => sequence === entry.sequence)
    if (created) this.#confirmWrite(created.sequence, created.draft)
    this.#sequence = Math.max(this.#sequence, entry?.sequence ?? 0)
    return isOld && this.#book ? mergeBooks(book, this.#book) : book
  }

  #readText(text: string): Book {
    try {
      return decodeBook(this.#key, text)
    } catch (error) {
      const willBeRepaired = this.#queue.some((operation) => operation.kind === 'task' && operation.repairs)
      if (willBeRepaired && isGatewayError(error, 'RECORD_DAMAGED')) return createBook(toMinute(this.#deps.clock.now()))
      throw error
    }
  }

  /** Handles the deletion of the record, which follows the deletion of its key or group. */
  #handleDeletion(): void {
    this.#own = emptyEntry
    this.#generation++
    this.#unconfirmedWrites = []
    this.#mustWrite = false
  }

  /** Records that a write succeeded, so no earlier write can still take effect. */
  #confirmWrite(sequence: number, draft: Draft): void {
    this.#confirmed = sequence
    this.#unconfirmedWrites = []
    this.#mustWrite = false
    this.#wroteAt = this.#deps.clock.now()
    this.#deliver(draft)
  }

  #deliver(draft: Draft): void {
    this.#own = draft.own
    const { finished } = draft
    this.#queue = this.#queue.filter((operation) => !finished.has(operation))
    this.#waiting = draft.waiting
    for (const tell of draft.outcomes) tell()
  }

  /** Fails all operations that can be repeated, keeps the changes, and retries later. */
  #failPending(error: unknown): void {
    const failed =
      isStorageUnavailable(error) && !isGatewayError(error, 'STORAGE_UNAVAILABLE') ? toUnavailable(error) : error
    const remaining: CounterOperation[] = []
    for (const operation of this.#queue) {
      if (operation.kind === 'change') remaining.push(operation)
      else operation.fail(failed)
    }
    this.#queue = remaining
    if (this.#unconfirmedWrites.length > 0) this.#mustWrite = true // one of them may still take effect
    if (remaining.length === 0 && !this.#mustWrite) return
    if (this.#retryMs === RETRY_AFTER_MS) this.#deps.onError(failed)
    this.#retryLater(this.#retryMs * (0.5 + this.#deps.random() / 2))
    this.#retryMs = Math.min(MAX_RETRY_MS, this.#retryMs * 2)
  }

  #retryLater(ms: number): void {
    this.#cancelTimer?.()
    this.#cancelTimer = this.#deps.startTimer(ms, () => {
      this.#cancelTimer = undefined
      this.#start()
    })
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => void startDeadline(this.#deps.clock, ms, resolve))
  }
}

const hasTotal = ({ requests, tokens, usd }: UsageLimits) =>
  (requests?.total ?? tokens?.total ?? usd?.total) !== undefined

const isZero = ({ requests, parallel, tokens, usd }: IntegerAmounts) => requests + parallel + tokens + usd === 0

const toUnavailable = (cause: unknown) =>
  gatewayError('STORAGE_UNAVAILABLE', { cause, data: { what: 'write', isAway: true } })

const createConflictLimitError = () =>
  gatewayError('STORAGE_FAILED', {
    message: `A write to the storage conflicted with other writers ${MAX_CONFLICTS} times in a row.`,
  })
