import { evictOldest } from '../../../lib/maps.ts'
import { newId } from '../../../lib/new-id.ts'
import type { LimitScope, LimitState, LimitUnit, UsageLimits } from '../../../types/limits.ts'
import {
  type Amounts,
  addOutput,
  type IntegerAmounts,
  NO_AMOUNTS,
  type RequestedOutput,
  roundUp,
  toIntegerAmounts,
} from './amounts.ts'
import { type LimitRejection, listSingleLimits, pickStricterRejection, type ScopeName } from './decide.ts'
import { type ConfirmedHold, holdAll, type ScopeHold } from './hold-all.ts'
import { findNearLimits } from './near-limits.ts'
import { HEARTBEAT_MS, ScopeCounters, type ScopeCountersDependencies } from './scope-counters.ts'
import { listSpending, type ScopeSpending, type SpendingPage } from './scope-spending.ts'

export type { Amounts, RequestedOutput } from './amounts.ts'
export type { LimitRejection, ScopeName } from './decide.ts'
export type { ScopeSpending, SpendingPage } from './scope-spending.ts'

/** A scope and its current limits. */
export interface LimitedScope extends ScopeName {
  /** Must not be modified. */
  limits: UsageLimits
}

/** The amounts to reserve. */
export interface RequestedAmounts {
  fixed: Amounts
  output?: RequestedOutput | undefined
}

/** The reservation for one attempt. The first attempt's reservation also covers the request. */
export interface Reservation {
  kind: 'reserved'
  /** How many output tokens were reserved, or `undefined` if none were requested. */
  readonly outputTokens: number | undefined
  /** The state of all limits that apply, including the reservation. */
  readonly limits: readonly LimitState[]
  /**
   * Reserves more, in the same windows as before. If that doesn't fit, resolves to a rejection and keeps the earlier reservation. Rejects with the
   * same errors as `reserve`. `slack` is how far reservations and usage together may exceed each limit.
   */
  extend(extraAmounts: Amounts, slack?: Amounts): Promise<LimitRejection | undefined>
  /**
   * Counts the amounts spent in `units` (default: all units that aren't settled yet) and releases the rest of the reservation. Each unit settles
   * once; later calls do nothing. Writes in the background; see `Ledger.waitForWrites`. Never throws.
   */
  settle(spent: Amounts, units?: readonly LimitUnit[]): void
}

/** The counters of all limits, shared by all instances on one storage. */
export interface Ledger {
  /**
   * Reserves in all scopes or in none. Takes one round trip to storage, and another one if the counters aren't in memory; more if other instances
   * write at the same time. Skips scopes without limits. Rejects with `STORAGE_UNAVAILABLE`, with `RECORD_DAMAGED` if counters are unreadable, or
   * with `STORAGE_FAILED`.
   */
  reserve(scopes: readonly LimitedScope[], requested: RequestedAmounts): Promise<Reservation | LimitRejection>
  /** Prefetches the counters of scopes that aren't in memory, because `reserve` will probably need them soon. Never throws. */
  prepare(scopes: readonly LimitedScope[]): void
  /** Returns why `reserve` would currently reject, without reserving anything. Rejects with the same errors as `reserve`. */
  preview(scopes: readonly LimitedScope[], requested: RequestedAmounts): Promise<LimitRejection | undefined>
  /** Returns the current state of a scope's limits. Rejects with the same errors as `reserve`. */
  getStates(scope: LimitedScope): Promise<LimitState[]>
  /** Resets the counters, even if they are damaged. In-flight requests stay reserved. */
  reset(scope: ScopeName): Promise<void>
  /**
   * Ends the reservations of crashed instances, counting either all or none of them as spent. If such an instance comes back and settles its
   * requests, they still count.
   */
  settleLost(scope: ScopeName, as: 'spent' | 'unspent'): Promise<void>
  /** Removes a deleted key's or group's counters. */
  forget(scope: ScopeName): Promise<void>
  /**
   * Returns key and group usage on this side of a replica, for sending to the other side. Returns at most `limit` scopes, starting after the previous
   * page. Rejects with `STORAGE_FAILED`.
   */
  listSpending(replicaId: string, page: { after?: string | undefined; limit: number }): Promise<SpendingPage>
  /** Stores a scope's usage on the other side, replacing the previous report. Rejects with the same errors as `reserve`. */
  applySpending(replicaId: string, spending: ScopeSpending): Promise<void>
  /**
   * Returns the limits that are at least 80% used, fullest first. Settlements that haven't been written yet aren't included. Reads at most 10,000
   * scopes. Rejects with `STORAGE_UNAVAILABLE` or `STORAGE_FAILED`.
   */
  listNearLimits(getLimits: (scope: ScopeName) => UsageLimits | undefined): Promise<LimitState[]>
  /** Resolves when all pending settlements have been written or have failed. Meant for `waitUntil`. */
  waitForWrites(): Promise<void>
  /** How many scopes this process has in memory. */
  readonly scopesInMemory: number
  /** Writes all pending settlements. Those that can't be written are lost, and `onError` gets the failure. */
  close(): Promise<void>
}

/** The storage must have timeouts, as `Store.storage` does. */
export type LedgerOptions = Omit<ScopeCountersDependencies, 'instanceId'>

/** Maximum number of scopes to keep in memory, unless more are in use. */
const MAX_SCOPES = 10_000
/** Scopes used within this time, in ms, are dropped last. */
const RECENT_USE_MS = 60_000
/** The order in which requests wait for scopes. */
const SCOPE_ORDER: readonly LimitScope[] = ['gateway', 'group', 'account', 'key', 'run']
const LIMIT_UNITS: readonly LimitUnit[] = ['requests', 'parallel', 'tokens', 'usd']

export function createLedger(options: LedgerOptions): Ledger {
  return new StoredLedger(options)
}

class StoredLedger implements Ledger {
  readonly #deps: ScopeCountersDependencies
  readonly #counters = new Map<string, ScopeCounters>()
  /** The latest report from the other side of a replica, by scope. Most scopes don't change between syncs, so their reports are skipped. */
  readonly #appliedSpending = new Map<string, string>()
  #sweepThreshold = MAX_SCOPES
  #openReservations = 0
  /** When the timer fires, in epoch ms. `undefined` if no timer is set. */
  #nextHeartbeatAt: number | undefined
  #cancelHeartbeat: () => void = () => {}
  #isClosed = false

  constructor(options: LedgerOptions) {
    this.#deps = { ...options, instanceId: newId().slice(0, 10) }
  }

  async reserve(scopes: readonly LimitedScope[], requested: RequestedAmounts): Promise<Reservation | LimitRejection> {
    const { amounts, holds } = this.#listHolds(scopes, requested)
    const confirmedHolds = await holdAll(holds)
    if (!Array.isArray(confirmedHolds)) return confirmedHolds
    const [firstHold] = confirmedHolds
    const outputTokens = firstHold ? firstHold.grant.outputTokens : amounts.output?.tokens
    const heldAmounts = firstHold?.grant.amounts ?? addOutput(amounts.fixed, amounts.output, outputTokens ?? 0)
    this.#startHeartbeat()
    return new HeldReservation({
      holds: confirmedHolds,
      heldAmounts,
      outputTokens,
      onEnd: () => void this.#openReservations--,
    })
  }

  prepare(scopes: readonly LimitedScope[]): void {
    for (const scope of scopes) if (listSingleLimits(scope.limits).length > 0) this.#getCounters(scope).prepare()
  }

  async preview(scopes: readonly LimitedScope[], requested: RequestedAmounts): Promise<LimitRejection | undefined> {
    const { holds } = this.#listHolds(scopes, requested)
    const decisions = await Promise.all(holds.map(({ counters, requested }) => counters.evaluate(requested)))
    const rejections = decisions.flatMap((decision) =>
      decision.kind === 'fits' ? [] : decision.kind === 'blocked' ? decision.rejection : decision,
    )
    const [firstRejection, ...otherRejections] = rejections
    return firstRejection && otherRejections.reduce(pickStricterRejection, firstRejection)
  }

  /** Lists the amounts to reserve in each scope, in the order to wait for the scopes. */
  #listHolds(scopes: readonly LimitedScope[], { fixed, output }: RequestedAmounts) {
    const amounts = { fixed: toIntegerAmounts(fixed), output: output && normalizeOutput(output) }
    const orderedScopes = scopes.length < 2 ? scopes : [...scopes].sort((a, b) => getScopeOrder(a) - getScopeOrder(b))
    const holds: ScopeHold[] = []
    for (const scope of orderedScopes)
      if (listSingleLimits(scope.limits).length > 0)
        holds.push({ counters: this.#getCounters(scope), requested: { limits: scope.limits, ...amounts } })
    return { amounts, holds }
  }

  async getStates(scope: LimitedScope): Promise<LimitState[]> {
    return listSingleLimits(scope.limits).length === 0 ? [] : this.#getCounters(scope).getStates(scope.limits)
  }

  reset(scope: ScopeName): Promise<void> {
    return this.#getCounters(scope).reset()
  }

  settleLost(scope: ScopeName, as: 'spent' | 'unspent'): Promise<void> {
    return this.#getCounters(scope).settleLost(as)
  }

  forget(scope: ScopeName): Promise<void> {
    return this.#getCounters(scope).forget()
  }

  listSpending(replicaId: string, page: { after?: string | undefined; limit: number }): Promise<SpendingPage> {
    return listSpending(this.#deps.storage, replicaId, page)
  }

  listNearLimits(getLimits: (scope: ScopeName) => UsageLimits | undefined): Promise<LimitState[]> {
    return findNearLimits(this.#deps.storage, getLimits, this.#deps.clock.now())
  }

  async applySpending(replicaId: string, { scope, id, ...spent }: ScopeSpending): Promise<void> {
    const name = `${scope}/${id}`
    const fingerprint = JSON.stringify([replicaId, spent.epoch, spent.minute, spent.used])
    if (this.#appliedSpending.get(name) === fingerprint) return
    await this.#getCounters({ scope, id }).applySpending(replicaId, spent)
    if (!this.#appliedSpending.delete(name)) evictOldest(this.#appliedSpending, MAX_SCOPES)
    this.#appliedSpending.set(name, fingerprint)
  }

  async waitForWrites(): Promise<void> {
    await Promise.all(Array.from(this.#counters.values(), (counters) => counters.waitForWrites()))
  }

  get scopesInMemory(): number {
    return this.#counters.size
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancelHeartbeat()
    await Promise.all(Array.from(this.#counters.values(), (counters) => counters.close()))
  }

  #getCounters({ scope, id }: ScopeName): ScopeCounters {
    const name = `${scope}/${id}`
    const now = this.#deps.clock.now()
    let counters = this.#counters.get(name)
    if (!counters) {
      if (this.#counters.size >= this.#sweepThreshold) this.#sweep(now)
      counters = new ScopeCounters(this.#deps, { scope, id })
      this.#counters.set(name, counters)
    }
    counters.usedAt = now
    return counters
  }

  /** Drops scopes that this process isn't using, starting with those that it hasn't used recently. */
  #sweep(now: number): void {
    for (const [name, counters] of this.#counters)
      if (counters.isIdle && Math.abs(now - counters.usedAt) > RECENT_USE_MS) this.#counters.delete(name)
    for (const [name, counters] of this.#counters) {
      if (this.#counters.size <= MAX_SCOPES / 2) break
      if (counters.isIdle) this.#counters.delete(name)
    }
    this.#sweepThreshold = Math.max(MAX_SCOPES, 2 * this.#counters.size)
  }

  /** Starts showing other instances that this one is alive. Stops when no reservation is in flight. */
  #startHeartbeat(): void {
    this.#openReservations++
    const now = this.#deps.clock.now()
    if (this.#nextHeartbeatAt === undefined || Math.abs(now - this.#nextHeartbeatAt) > 2 * HEARTBEAT_MS)
      this.#scheduleHeartbeat(now) // a platform may have dropped the timer
  }

  #scheduleHeartbeat(now: number): void {
    this.#cancelHeartbeat()
    if (this.#isClosed) return
    this.#nextHeartbeatAt = now + HEARTBEAT_MS
    this.#cancelHeartbeat = this.#deps.startTimer(HEARTBEAT_MS, () => {
      this.#nextHeartbeatAt = undefined
      if (this.#openReservations === 0) return
      const now = this.#deps.clock.now()
      for (const counters of this.#counters.values()) counters.sendHeartbeat(now)
      this.#scheduleHeartbeat(now)
    })
  }
}

const getScopeOrder = ({ scope }: ScopeName) => SCOPE_ORDER.indexOf(scope)

/** Makes the price and the token counts safe for calculations. */
function normalizeOutput({ tokens, minTokens, usdPerToken }: RequestedOutput): RequestedOutput {
  const maxTokens = roundUp(tokens)
  const price = Number.isNaN(usdPerToken) ? Number.POSITIVE_INFINITY : Math.max(0, usdPerToken)
  return { tokens: maxTokens, minTokens: Math.min(maxTokens, roundUp(minTokens)), usdPerToken: price }
}

class HeldReservation implements Reservation {
  readonly kind = 'reserved'
  readonly outputTokens: number | undefined
  readonly limits: readonly LimitState[]
  readonly #holds: readonly ConfirmedHold[]
  readonly #openUnits = new Set<LimitUnit>(LIMIT_UNITS)
  readonly #onEnd: () => void
  /** The reserved amounts, which are the same in each scope. */
  #heldAmounts: IntegerAmounts

  constructor(options: {
    holds: readonly ConfirmedHold[]
    heldAmounts: IntegerAmounts
    outputTokens: number | undefined
    /** Called when all units are settled. */
    onEnd(): void
  }) {
    const [firstHold] = options.holds
    this.#holds = options.holds
    this.#heldAmounts = options.heldAmounts
    this.#onEnd = options.onEnd
    this.outputTokens = options.outputTokens
    this.limits =
      firstHold && options.holds.length === 1
        ? firstHold.grant.limits
        : options.holds.flatMap(({ grant }) => grant.limits)
  }

  async extend(extraAmounts: Amounts, slack?: Amounts): Promise<LimitRejection | undefined> {
    const fixed = pickUnits(toIntegerAmounts(extraAmounts), this.#openUnits)
    const holds = this.#holds.map(({ counters, limits, grant: { minute } }) => ({
      counters,
      requested: { limits: slack ? raiseLimits(limits, slack) : limits, minute, fixed },
    }))
    const extraHolds = await holdAll(holds)
    if (!Array.isArray(extraHolds)) return extraHolds
    const openAmounts = pickUnits(fixed, this.#openUnits)
    const lateAmounts = subtractAmounts(fixed, openAmounts) // amounts in units that were settled in the meantime
    this.#heldAmounts = addAmounts(this.#heldAmounts, openAmounts)
    for (const { counters, grant } of extraHolds)
      counters.enqueueChange({ ...grant, released: lateAmounts, decided: NO_AMOUNTS, spent: NO_AMOUNTS })
    return undefined
  }

  settle(spent: Amounts, units: readonly LimitUnit[] = LIMIT_UNITS): void {
    const settledUnits = new Set(units.filter((unit) => this.#openUnits.delete(unit)))
    if (settledUnits.size === 0) return
    const released = pickUnits(this.#heldAmounts, settledUnits)
    const spentAmounts = pickUnits(toIntegerAmounts(spent, released), settledUnits)
    for (const { counters, grant } of this.#holds)
      counters.enqueueChange({ ...grant, released, decided: NO_AMOUNTS, spent: spentAmounts })
    if (this.#openUnits.size === 0) this.#onEnd()
  }
}

/** Returns the token and dollar limits, raised by these amounts. */
function raiseLimits(limits: UsageLimits, extraAmounts: Amounts): UsageLimits {
  const raiseWindows = (unit: 'tokens' | 'usd') =>
    Object.fromEntries(
      Object.entries(limits[unit] ?? {}).map(([window, maxAmount]) => [window, maxAmount + (extraAmounts[unit] ?? 0)]),
    )
  return { ...limits, tokens: raiseWindows('tokens'), usd: raiseWindows('usd') }
}

const mapUnits = (getAmount: (unit: LimitUnit) => number): IntegerAmounts => ({
  requests: getAmount('requests'),
  parallel: getAmount('parallel'),
  tokens: getAmount('tokens'),
  usd: getAmount('usd'),
})

const pickUnits = (amounts: IntegerAmounts, units: ReadonlySet<LimitUnit>) =>
  mapUnits((unit) => (units.has(unit) ? amounts[unit] : 0))
const addAmounts = (a: IntegerAmounts, b: IntegerAmounts) => mapUnits((unit) => a[unit] + b[unit])
const subtractAmounts = (a: IntegerAmounts, b: IntegerAmounts) => mapUnits((unit) => a[unit] - b[unit])
