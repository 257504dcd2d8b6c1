import { fromNanoUsd } from '../../../lib/usd.ts'
import type { LimitScope, LimitState, LimitUnit, LimitWindow, UsageLimits } from '../../../types/limits.ts'
import { addClamped, addOutput, type IntegerAmounts, type RequestedOutput, subtractClamped, toNano } from './amounts.ts'
import { type Book, COUNTED_UNITS, getUsedIndex, type MinuteSlot } from './book.ts'
import { formatWindowEnd, getWindowStarts, type Minute, WINDOWS } from './windows.ts'

/** Identifies a scope: a key, a group, an account of your app, a token, or the gateway. */
export interface ScopeName {
  scope: LimitScope
  /** The key's or group's ID, the account's ref, or the token's ID. Empty for the gateway. */
  id: string
}

/** Why a request is rejected. */
export interface LimitRejection {
  kind: 'rejected'
  /** The current state of the limit. */
  limit: LimitState
  /**
   * `used-up`: nothing would remain even if all in-flight requests cost nothing. `too-large`: something remains, but not enough. `held`: the request
   * will fit if in-flight requests cost less than they reserved or, for `parallel`, once one of them ends.
   */
  why: 'used-up' | 'too-large' | 'held'
}

/** One of a scope's limits. */
interface SingleLimit {
  unit: LimitUnit
  window: LimitWindow | null
  /** As configured. */
  limit: number
  /** As an integer. */
  maxAmount: number
  /** The indexes of the window and the unit, or -1 for `parallel`, which isn't counted by window. */
  windowIndex: number
  unitIndex: number
}

const rulesByLimits = new WeakMap<UsageLimits, readonly SingleLimit[]>()

/**
 * Lists the single limits, in this order: requests, tokens, usd, parallel. Returns the same list for the same object, so the object must not be
 * modified.
 */
export function listSingleLimits(limits: UsageLimits): readonly SingleLimit[] {
  const cachedRules = rulesByLimits.get(limits)
  if (cachedRules) return cachedRules
  const rules: SingleLimit[] = COUNTED_UNITS.flatMap((unit, unitIndex) =>
    WINDOWS.flatMap((window, windowIndex) => {
      const limit = limits[unit]?.[window]
      if (limit === undefined) return []
      return { unit, window, limit, maxAmount: unit === 'usd' ? toNano(limit) : limit, windowIndex, unitIndex }
    }),
  )
  const { parallel } = limits
  if (parallel !== undefined)
    rules.push({ unit: 'parallel', window: null, limit: parallel, maxAmount: parallel, windowIndex: -1, unitIndex: -1 })
  rulesByLimits.set(limits, rules)
  return rules
}

/** How much of a limit is used, reserved, and unsettled. */
interface Tally {
  used: number
  unsettled: number
  reserved: number
  /** The part of `reserved` and `unsettled` that may soon be released. */
  pending: number
}

/** A scope's counters as one instance sees them. */
export interface ScopeView {
  book: Book
  isLost(id: string): boolean
  /** Returns whether an instance that appears lost may still be alive, because the clocks of two instances may differ. */
  mayBeAlive(id: string): boolean
}

function getTally({ book, isLost, mayBeAlive }: ScopeView, { windowIndex, unitIndex }: SingleLimit): Tally {
  const tally = { used: 0, unsettled: 0, reserved: 0, pending: 0 }
  const start = getWindowStarts(book.minute)[windowIndex] ?? 0
  if (unitIndex >= 0) {
    const index = getUsedIndex(windowIndex, unitIndex)
    tally.used = addClamped(book.used[index] ?? 0, book.otherSide?.used[index] ?? 0)
    tally.unsettled = sumSlots(book.gone, start, unitIndex)
  }
  for (const [id, entry] of book.entries) {
    const { parallel, held, pendingParallel, pending, lostAs } = entry
    if (lostAs !== 'open' || (parallel === 0 && held.length === 0)) continue
    const isReserved = !isLost(id)
    if (unitIndex < 0) {
      if (!isReserved) continue
      tally.reserved = addClamped(tally.reserved, parallel)
      tally.pending = addClamped(tally.pending, pendingParallel)
    } else {
      const category = isReserved ? 'reserved' : 'unsettled'
      tally[category] = addClamped(tally[category], sumSlots(held, start, unitIndex))
      if (isReserved || mayBeAlive(id)) tally.pending = addClamped(tally.pending, sumSlots(pending, start, unitIndex))
    }
  }
  return tally
}

function sumSlots(slots: readonly MinuteSlot[], start: Minute, unit: number): number {
  let sum = 0
  for (const slot of slots) if (slot[0] >= start) sum = addClamped(sum, slot[unit + 1] ?? 0)
  return sum
}

const getCommittedAmount = ({ used, unsettled, reserved }: Tally): number =>
  addClamped(addClamped(used, unsettled), reserved)

function getLimitState({ scope, id }: ScopeName, rule: SingleLimit, tally: Tally, minute: Minute): LimitState {
  const { unit, window, limit, maxAmount } = rule
  const convert = unit === 'usd' ? fromNanoUsd : identity
  return {
    scope,
    ...(id !== '' && { id }),
    unit,
    window,
    limit,
    used: convert(tally.used),
    reserved: convert(tally.reserved),
    unsettled: convert(tally.unsettled),
    remaining: convert(subtractClamped(maxAmount, getCommittedAmount(tally))),
    resetsAt: window && formatWindowEnd(window, minute),
  }
}

const identity = (value: number): number => value

/** Returns the current state of all of a scope's limits. */
export const getLimitStates = (name: ScopeName, limits: UsageLimits, view: ScopeView): LimitState[] =>
  listSingleLimits(limits).map((rule) => getLimitState(name, rule, getTally(view, rule), view.book.minute))

/** A request to reserve amounts in a scope. */
export interface HoldRequest {
  name: ScopeName
  limits: UsageLimits
  /** The minute of the reservation to extend. Absent for a new reservation. */
  minute?: Minute | undefined
  fixed: IntegerAmounts
  output?: RequestedOutput | undefined
}

/** A scope's decision. `blocked` means that the amounts would fit if other scopes, which haven't decided yet, rejected pending requests. */
export type Decision =
  | { kind: 'fits'; amounts: IntegerAmounts; outputTokens: number | undefined; limits: LimitState[] }
  | { kind: 'blocked'; rejection: LimitRejection }
  | LimitRejection

/** Decides whether the amounts fit within all limits. */
export function decide(request: HoldRequest, view: ScopeView): Decision {
  const { limits, fixed, output } = request
  const { minute } = view.book
  const heldMinute = request.minute ?? minute
  const rules = listSingleLimits(limits)
  const tallies = rules.map((rule) => getTally(view, rule))
  const appliesTo = ({ windowIndex }: SingleLimit) =>
    windowIndex < 0 || heldMinute >= (getWindowStarts(minute)[windowIndex] ?? 0)

  let tokens = output?.tokens ?? 0
  if (output)
    rules.forEach((rule, index) => {
      const tally = tallies[index]
      if (tally && appliesTo(rule)) tokens = Math.min(tokens, getFittingOutput(rule, tally, fixed, output))
    })
  const outputTokens = output && Math.max(tokens, output.minTokens)
  const requested = addOutput(fixed, output, outputTokens ?? 0)

  let rejection: LimitRejection | undefined
  let isBlocked = true
  rules.forEach((rule, index) => {
    const tally = tallies[index]
    if (!tally || !appliesTo(rule)) return
    const amount = requested[rule.unit]
    const available = rule.maxAmount - getCommittedAmount(tally)
    if (amount === 0 || amount <= available) return
    if (amount > available + tally.pending) isBlocked = false
    const newRejection: LimitRejection = {
      kind: 'rejected',
      why: explainRejection(rule, tally, amount),
      limit: getLimitState(request.name, rule, tally, minute),
    }
    rejection = rejection ? pickStricterRejection(rejection, newRejection) : newRejection
  })
  if (rejection) return isBlocked ? { kind: 'blocked', rejection } : rejection

  const states = rules.map((rule, index) => {
    const tally = tallies[index]
    if (tally && appliesTo(rule)) tally.reserved = addClamped(tally.reserved, requested[rule.unit])
    return getLimitState(request.name, rule, tally ?? NO_TALLY, minute)
  })
  return { kind: 'fits', amounts: requested, outputTokens, limits: states }
}

const NO_TALLY: Tally = { used: 0, unsettled: 0, reserved: 0, pending: 0 }

/** Returns how many output tokens a limit allows. The result is negative if not even the fixed part fits. */
function getFittingOutput(
  { unit, maxAmount }: SingleLimit,
  tally: Tally,
  fixed: IntegerAmounts,
  output: RequestedOutput,
): number {
  const available = maxAmount - getCommittedAmount(tally) - fixed[unit]
  if (unit === 'tokens') return available
  if (unit !== 'usd' || output.usdPerToken <= 0) return Number.POSITIVE_INFINITY
  let tokens = Math.min(output.tokens, Math.floor(fromNanoUsd(available) / output.usdPerToken) + 1) // one more, because the division may round down
  while (tokens > 0 && toNano(tokens * output.usdPerToken) > available) tokens--
  return tokens
}

/** Returns why an amount doesn't fit within a limit. */
function explainRejection({ unit, maxAmount }: SingleLimit, tally: Tally, amount: number): LimitRejection['why'] {
  const available = maxAmount - tally.used - tally.unsettled
  if (unit === 'parallel') return amount > maxAmount ? 'too-large' : 'held'
  if (available <= 0) return 'used-up'
  return amount > available ? 'too-large' : 'held'
}

/** Returns the rejection to report: `requests` take precedence, then `parallel`, then the rejection that lasts longest. */
export function pickStricterRejection(a: LimitRejection, b: LimitRejection): LimitRejection {
  const [ranksA, ranksB] = [getRanks(a), getRanks(b)]
  const rankIndex = ranksA.findIndex((rank, index) => rank !== ranksB[index])
  return (ranksA[rankIndex] ?? 0) >= (ranksB[rankIndex] ?? 0) ? a : b
}

const getRanks = ({ limit: { unit, window }, why }: LimitRejection): number[] => [
  unit === 'requests' ? 2 : unit === 'parallel' ? 1 : 0,
  ['held', 'too-large', 'used-up'].indexOf(why),
  window === null ? -1 : WINDOWS.indexOf(window),
]
