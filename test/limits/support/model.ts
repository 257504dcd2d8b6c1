import type { Amounts, LimitedScope, Reservation } from '../../../src/features/limits/ledger/ledger.ts'
import { getWindowEnd, getWindowStart, WINDOWS } from '../../../src/features/limits/ledger/windows.ts'
import type { LimitState, LimitUnit, UsageLimits } from '../../../src/types/limits.ts'
import type { Instance } from './world.ts'

/** Amounts in whole numbers; USD in nano-dollars. */
export type Whole = Record<LimitUnit, number>

export const UNITS: readonly LimitUnit[] = ['requests', 'parallel', 'tokens', 'usd']

export const wholeOf = ({ requests = 0, parallel = 0, tokens = 0, usd = 0 }: Amounts): Whole => ({
  requests,
  parallel,
  tokens,
  usd: Math.round(usd * 1e9),
})

/** One reservation, as the model has it. */
export interface HeldByModel {
  readonly instance: Instance
  readonly reservation: Reservation
  readonly scopes: readonly LimitedScope[]
  /** The minute in whose windows it counts, by account. */
  readonly minutes: ReadonlyMap<string, number>
  readonly reserved: Whole
  readonly spent: Whole
  readonly open: Set<LimitUnit>
  /** The units that the counters of an account no longer contain, since they began anew. */
  readonly cleared: Map<string, Set<LimitUnit>>
  /** The accounts at which an administrator has ended it, since its instance has crashed. */
  readonly ended: Set<string>
  /** Its instance has crashed. */
  isLost: boolean
}

export const nameOf = ({ scope, id }: Pick<LimitedScope, 'scope' | 'id'>): string => `${scope}/${id}`

/** All limits have one of requests by the minute, whose end tells the minute that an account is at. */
const END_OF_MINUTE = (state: LimitState) => state.unit === 'requests' && state.window === 'minute'

export function minuteIn(states: readonly LimitState[], { scope, id }: Pick<LimitedScope, 'scope' | 'id'>): number {
  const state = states.find((one) => one.scope === scope && (one.id ?? '') === id && END_OF_MINUTE(one))
  return Date.parse(String(state?.resetsAt)) / 60_000 - 1
}

/** What all instances together have been granted, added up afresh each time. */
export class Model {
  readonly held: HeldByModel[] = []

  granted(instance: Instance, scopes: readonly LimitedScope[], reservation: Reservation, reserved: Whole): HeldByModel {
    const minutes = new Map(scopes.map((scope) => [nameOf(scope), minuteIn(reservation.limits, scope)]))
    const held: HeldByModel = {
      instance,
      reservation,
      scopes,
      minutes,
      reserved,
      spent: wholeOf({}),
      open: new Set(UNITS),
      cleared: new Map(),
      ended: new Set(),
      isLost: false,
    }
    this.held.push(held)
    return held
  }

  /** What counts from one minute to another: spent, under way, and held by instances that have crashed. */
  count(
    account: string,
    unit: LimitUnit,
    [start, end]: readonly [number, number],
  ): { used: number; reserved: number; unsettled: number } {
    const sum = { used: 0, reserved: 0, unsettled: 0 }
    for (const one of this.held) {
      const minute = one.minutes.get(account)
      if (minute === undefined || minute < start || minute >= end || one.cleared.get(account)?.has(unit)) continue
      if (!one.open.has(unit)) sum.used += one.spent[unit]
      else if (!one.isLost) sum.reserved += one.reserved[unit]
      else if (unit !== 'parallel') sum.unsettled += one.reserved[unit]
    }
    return sum
  }

  /** The counters of an account begin anew. */
  reset(account: string): void {
    for (const one of this.held) {
      if (!one.minutes.has(account)) continue
      const cleared = one.cleared.get(account) ?? new Set()
      for (const unit of UNITS) if (one.isLost || !one.open.has(unit)) cleared.add(unit)
      one.cleared.set(account, cleared)
    }
  }

  /** What crashed instances held of an account has ended. */
  settleLost(account: string, as: 'spent' | 'unspent'): void {
    for (const one of this.held) {
      if (!one.isLost || !one.minutes.has(account) || one.ended.has(account)) continue
      one.ended.add(account)
      const cleared = one.cleared.get(account) ?? new Set()
      for (const unit of one.open) if (as === 'unspent' || unit === 'parallel') cleared.add(unit)
      one.cleared.set(account, cleared)
    }
  }

  /**
   * Every limit of these accounts by the model, at the minutes that they are at. `exactly`: without what an instance whose clock was ahead has
   * counted in later windows.
   */
  *limits(scopes: readonly LimitedScope[], minutes: ReadonlyMap<string, number>, { exactly = false } = {}) {
    for (const scope of scopes) {
      const account = nameOf(scope)
      const minute = minutes.get(account) ?? 0
      for (const [unit, window, limit] of limitsOf(scope.limits)) {
        const start = window ? getWindowStart(window, minute) : 0
        const end = (exactly && window && getWindowEnd(window, minute)) || Number.POSITIVE_INFINITY
        const most = unit === 'usd' ? Math.round(limit * 1e9) : limit
        yield { account, unit, window, start, most, ...this.count(account, unit, [start, end]) }
      }
    }
  }
}

function* limitsOf(limits: UsageLimits) {
  for (const unit of ['requests', 'tokens', 'usd'] as const)
    for (const window of WINDOWS) {
      const limit = limits[unit]?.[window]
      if (limit !== undefined) yield [unit, window, limit] as const
    }
  if (limits.parallel !== undefined) yield ['parallel', null, limits.parallel] as const
}
