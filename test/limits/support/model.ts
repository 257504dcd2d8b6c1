import type { Amounts, LimitedScope, Reservation } from '../../../src/features/limits/ledger/ledger.ts'
import { getWindowEnd, getWindowStart, WINDOWS } from '../../../src/features/limits/ledger/windows.ts'
import type { LimitState, LimitUnit, UsageLimits } from '../../../src/types/limits.ts'
import type { Instance } from './world.ts'

/** Amounts as integers. Dollars are in nano-dollars. */
export type Full = Record<LimitUnit, number>

export const UNITS: readonly LimitUnit[] = ['requests', 'parallel', 'tokens', 'usd']

export const toFull = ({ requests = 0, parallel = 0, tokens = 0, usd = 0 }: Amounts): Full => ({
  requests,
  parallel,
  tokens,
  usd: Math.round(usd * 1e9),
})

/** A reservation in the model. */
export interface HeldByModel {
  readonly instance: Instance
  readonly reservation: Reservation
  readonly scopes: readonly LimitedScope[]
  /** The minute whose windows the reservation counts in, by account. */
  readonly minutes: ReadonlyMap<string, number>
  readonly reserved: Full
  readonly spent: Full
  readonly open: Set<LimitUnit>
  /** The units that an account's counters no longer contain, because they were reset. */
  readonly cleared: Map<string, Set<LimitUnit>>
  /** The accounts in which an administrator has settled the reservation after its instance crashed. */
  readonly ended: Set<string>
  /** Whether the reservation's instance has crashed. */
  isLost: boolean
}

export const getName = ({ scope, id }: Pick<LimitedScope, 'scope' | 'id'>): string => `${scope}/${id}`

/** Returns whether a state is that of the minute limit on requests. Every account has one, and its end reveals the account's current minute. */
const END_OF_MINUTE = (state: LimitState) => state.unit === 'requests' && state.window === 'minute'

export function getMinute(states: readonly LimitState[], { scope, id }: Pick<LimitedScope, 'scope' | 'id'>): number {
  const state = states.find((state) => state.scope === scope && (state.id ?? '') === id && END_OF_MINUTE(state))
  return Date.parse(String(state?.resetsAt)) / 60_000 - 1
}

/** All reservations granted to instances. Every query sums them up again. */
export class Model {
  readonly held: HeldByModel[] = []

  granted(instance: Instance, scopes: readonly LimitedScope[], reservation: Reservation, reserved: Full): HeldByModel {
    const minutes = new Map(scopes.map((scope) => [getName(scope), getMinute(reservation.limits, scope)]))
    const held: HeldByModel = {
      instance,
      reservation,
      scopes,
      minutes,
      reserved,
      spent: toFull({}),
      open: new Set(UNITS),
      cleared: new Map(),
      ended: new Set(),
      isLost: false,
    }
    this.held.push(held)
    return held
  }

  /** Returns the amounts between two minutes: spent, in flight, and reserved by crashed instances. */
  count(
    account: string,
    unit: LimitUnit,
    [start, end]: readonly [number, number],
  ): { used: number; reserved: number; unsettled: number } {
    const sum = { used: 0, reserved: 0, unsettled: 0 }
    for (const item of this.held) {
      const minute = item.minutes.get(account)
      if (minute === undefined || minute < start || minute >= end || item.cleared.get(account)?.has(unit)) continue
      if (!item.open.has(unit)) sum.used += item.spent[unit]
      else if (!item.isLost) sum.reserved += item.reserved[unit]
      else if (unit !== 'parallel') sum.unsettled += item.reserved[unit]
    }
    return sum
  }

  /** Resets the counters of an account. */
  reset(account: string): void {
    for (const item of this.held) {
      if (!item.minutes.has(account)) continue
      const cleared = item.cleared.get(account) ?? new Set()
      for (const unit of UNITS) if (item.isLost || !item.open.has(unit)) cleared.add(unit)
      item.cleared.set(account, cleared)
    }
  }

  /** Settles crashed instances' reservations on an account. */
  settleLost(account: string, as: 'spent' | 'unspent'): void {
    for (const item of this.held) {
      if (!item.isLost || !item.minutes.has(account) || item.ended.has(account)) continue
      item.ended.add(account)
      const cleared = item.cleared.get(account) ?? new Set()
      for (const unit of item.open) if (as === 'unspent' || unit === 'parallel') cleared.add(unit)
      item.cleared.set(account, cleared)
    }
  }

  /**
   * Lists these accounts' limits with the model's amounts, at each account's current minute. `exactly` excludes usage that an instance with a fast
   * clock counted in later windows.
   */
  *limits(scopes: readonly LimitedScope[], minutes: ReadonlyMap<string, number>, { exactly = false } = {}) {
    for (const scope of scopes) {
      const account = getName(scope)
      const minute = minutes.get(account) ?? 0
      for (const [unit, window, limit] of getLimits(scope.limits)) {
        const start = window ? getWindowStart(window, minute) : 0
        const end = (exactly && window && getWindowEnd(window, minute)) || Number.POSITIVE_INFINITY
        const most = unit === 'usd' ? Math.round(limit * 1e9) : limit
        yield { account, unit, window, start, most, ...this.count(account, unit, [start, end]) }
      }
    }
  }
}

function* getLimits(limits: UsageLimits) {
  for (const unit of ['requests', 'tokens', 'usd'] as const)
    for (const window of WINDOWS) {
      const limit = limits[unit]?.[window]
      if (limit !== undefined) yield [unit, window, limit] as const
    }
  if (limits.parallel !== undefined) yield ['parallel', null, limits.parallel] as const
}
