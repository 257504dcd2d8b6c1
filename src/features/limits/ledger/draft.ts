import { assertNever } from '../../../lib/assert-never.ts'
import type { LimitState } from '../../../types/limits.ts'
import { type IntegerAmounts, NO_AMOUNTS, subtractClamped } from './amounts.ts'
import {
  addSlot,
  addUsed,
  type Book,
  countSlot,
  createSlot,
  type InstanceEntry,
  isEmptyEntry,
  rollUsed,
  type SideSpending,
  subtractSlot,
} from './book.ts'
import { decide, type HoldRequest, type LimitRejection, type ScopeView } from './decide.ts'
import { LOST_MS, type LostInstanceTracker, pruneBook } from './lost-instances.ts'
import { type Minute, toMinute } from './windows.ts'

/** A scope's reservation for one request. */
export interface Grant {
  kind: 'granted'
  /** The minute whose windows count the reservation. */
  minute: Minute
  amounts: IntegerAmounts
  outputTokens: number | undefined
  /** The state of all the scope's limits, including the reservation. */
  limits: LimitState[]
  /** The generation of the counters. It changes if their record is deleted. */
  generation: number
}

/** `blocked` means that the amounts would fit if pending requests were rejected, but that the operation wasn't supposed to wait for them. */
export type HoldOutcome = Grant | LimitRejection | { kind: 'blocked' }

/** A change to this instance's reservations and to the scope's used amounts. */
export interface CounterChange {
  generation: number
  /** The minute whose windows count the change. */
  minute: Minute
  released: IntegerAmounts
  /** The part of the reservation that is no longer pending. */
  decided: IntegerAmounts
  spent: IntegerAmounts
}

/** An operation that waits for the next write of its scope. */
export type CounterOperation =
  | {
      kind: 'hold'
      request: HoldRequest
      /** Whether the reservation is released if another scope rejects the request. */
      isPending: boolean
      /** When to stop waiting for pending requests that block the operation, in epoch ms. 0 means not to wait. */
      deadline: number
      done(outcome: HoldOutcome): void
      fail(error: unknown): void
    }
  | {
      kind: 'task'
      /** Whether the operation can run on a damaged record, treating it as empty. */
      repairs: boolean
      /** Returns the callback to run after the draft has been written. */
      run(draft: Draft): () => void
      fail(error: unknown): void
    }
  | { kind: 'change'; change: CounterChange }

type Hold = Extract<CounterOperation, { kind: 'hold' }>

/** The inputs for a draft. */
interface DraftSource {
  /** The book as last read or written. */
  book: Book
  instanceId: string
  /** The instance's reservations that are known to be in storage. */
  ownEntry: InstanceEntry
  generation: number
  instanceTracker: LostInstanceTracker
  /** Epoch ms. */
  now: number
}

/** A scope's counters as they will be after the next write. */
export class Draft {
  readonly book: Book & { entries: Map<string, InstanceEntry> }
  readonly view: ScopeView
  /** Whether there is anything to write. */
  isChanged = false
  /** The operations that this write completes. */
  readonly finishedOperations = new Set<CounterOperation>()
  /** The holds that are blocked and waiting. */
  readonly waitingOperations = new Set<CounterOperation>()
  /** Callbacks to run after the draft has been written. */
  readonly outcomeCallbacks: Array<() => void> = []
  readonly #instanceId: string
  readonly #generation: number
  readonly #now: number
  #ownEntry: InstanceEntry

  constructor({ book: storedBook, instanceId, ownEntry, generation, instanceTracker, now }: DraftSource) {
    const minute = Math.max(storedBook.minute, toMinute(now)) // windows must not go back when a clock does
    const used = rollUsed(storedBook.used, storedBook.minute, minute)
    const { entries, gone } = pruneBook(storedBook, instanceTracker, { now, minute })
    const previousEntry = entries.get(instanceId)
    if (previousEntry?.lostAs === 'spent') for (const slot of previousEntry.held) countSlot(used, minute, slot, -1) // the instance wasn't lost after all
    entries.set(instanceId, ownEntry)
    const { epoch, number } = storedBook
    const otherSide = storedBook.otherSide && {
      ...storedBook.otherSide,
      used: rollUsed(storedBook.otherSide.used, storedBook.minute, minute),
    }
    this.book = { minute, used, gone, entries, epoch, number: Math.max(number + 1, Math.floor(now)), otherSide }
    this.view = {
      book: this.book,
      isLost: (id) => instanceTracker.isLost(id, now),
      mayBeAlive: (id) => instanceTracker.getWatchedMs(id, now) < LOST_MS,
    }
    this.#ownEntry = ownEntry
    this.#instanceId = instanceId
    this.#generation = generation
    this.#now = now
  }

  /** This instance's reservations. */
  get ownEntry(): InstanceEntry {
    return this.#ownEntry
  }

  set ownEntry(entry: InstanceEntry) {
    this.#ownEntry = entry
    this.book.entries.set(this.#instanceId, entry)
  }

  /** Applies an operation. A hold that should wait stays unfinished. */
  apply(operation: CounterOperation): void {
    if (operation.kind === 'hold') this.#applyHold(operation)
    else {
      this.finishedOperations.add(operation)
      if (operation.kind === 'change') this.#applyChange(operation.change)
      else this.outcomeCallbacks.push(operation.run(this))
    }
  }

  /** Resets all counters for the current windows. If a clock was ahead, these are the windows of the latest in-flight reservation. */
  resetCounters(epoch = Math.max(this.book.epoch + 1, Math.floor(this.#now))): void {
    const { book, view } = this
    for (const [id, entry] of book.entries) if (entry.lostAs !== 'open' || view.isLost(id)) book.entries.delete(id)
    const minutes = Array.from(book.entries.values(), ({ held }) => held.map(([minute]) => minute)).flat()
    book.minute = Math.max(toMinute(this.#now), ...minutes)
    book.used.fill(0)
    book.gone = []
    book.epoch = epoch
    book.otherSide = undefined
    this.isChanged = true
  }

  /**
   * Stores the usage on the other side of a replica, replacing its previous usage. Ignores counters from before a reset. Counters from after a reset
   * on the other side also reset this side's. The usage on an earlier replica's other side becomes this side's own usage.
   */
  applySpending(side: string, { epoch, number, minute, used }: SideSpending): void {
    const { book } = this
    if (epoch < book.epoch) return
    if (epoch > book.epoch) this.resetCounters(epoch)
    const previousUsage = book.otherSide
    const isSameSide = previousUsage?.side === side
    if (isSameSide && number <= previousUsage.number) return
    const latestMinute = Math.max(book.minute, minute) // windows must not go back
    const rolledUsed = rollUsed(used, minute, latestMinute)
    if (
      isSameSide &&
      latestMinute === book.minute &&
      rolledUsed.every((value, index) => value === previousUsage.used[index])
    )
      return
    const nextUsed = previousUsage && !isSameSide ? addUsed(book.used, previousUsage.used) : book.used
    book.used = rollUsed(nextUsed, book.minute, latestMinute)
    book.minute = latestMinute
    book.otherSide = { side, number, used: rolledUsed }
    this.isChanged = true
  }

  /** Ends the reservations of lost instances. Keeps their entries for a while, in case the instances come back. */
  settleLost(as: 'spent' | 'unspent'): void {
    const { book, view } = this
    const lostSlots = [...book.gone]
    for (const [id, entry] of book.entries) {
      if (entry.lostAs !== 'open' || isEmptyEntry(entry) || !view.isLost(id)) continue
      lostSlots.push(...entry.held)
      book.entries.set(id, { ...entry, lostAs: as })
      this.isChanged = true
    }
    if (as === 'spent') for (const slot of lostSlots) countSlot(book.used, book.minute, slot)
    if (book.gone.length > 0) this.isChanged = true
    book.gone = []
  }

  #applyChange(change: CounterChange): void {
    if (change.generation !== this.#generation) return
    const { minute, released, decided, spent } = change
    const entry = this.#ownEntry
    const isPending = decided !== NO_AMOUNTS
    countSlot(this.book.used, this.book.minute, createSlot(minute, spent))
    this.isChanged = true
    this.ownEntry = {
      ...entry,
      parallel: subtractClamped(entry.parallel, released.parallel),
      held: subtractSlot(entry.held, createSlot(minute, released)),
      pendingParallel: subtractClamped(entry.pendingParallel, decided.parallel),
      pending: isPending ? subtractSlot(entry.pending, createSlot(minute, decided)) : entry.pending,
    }
  }

  #applyHold(hold: Hold): void {
    const decision = decide(hold.request, this.view)
    if (decision.kind === 'blocked' && hold.deadline > this.#now) {
      this.waitingOperations.add(hold)
      return
    }
    this.finishedOperations.add(hold)
    switch (decision.kind) {
      case 'fits':
        this.#grant(hold, decision)
        return
      case 'blocked': {
        const outcome = hold.deadline === 0 ? ({ kind: 'blocked' } as const) : decision.rejection
        this.outcomeCallbacks.push(() => hold.done(outcome))
        return
      }
      case 'rejected':
        this.outcomeCallbacks.push(() => hold.done(decision))
        return
      default:
        assertNever(decision)
    }
  }

  #grant(
    { request, isPending, done }: Hold,
    { amounts, outputTokens, limits }: Pick<Grant, 'amounts' | 'outputTokens' | 'limits'>,
  ): void {
    const minute = request.minute ?? this.book.minute
    const grant: Grant = { kind: 'granted', minute, amounts, outputTokens, limits, generation: this.#generation }
    const slot = createSlot(minute, amounts)
    const entry = this.#ownEntry
    this.isChanged = true
    this.ownEntry = {
      ...entry,
      parallel: entry.parallel + amounts.parallel,
      held: addSlot(entry.held, slot),
      pendingParallel: entry.pendingParallel + (isPending ? amounts.parallel : 0),
      pending: isPending ? addSlot(entry.pending, slot) : entry.pending,
    }
    this.outcomeCallbacks.push(() => done(grant))
  }
}
