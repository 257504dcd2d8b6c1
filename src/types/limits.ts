import type { IsoTime } from './plain-types.ts'
/** A calendar window in UTC. Weeks start on Monday; `total` never ends. */
export type LimitWindow = 'minute' | 'hour' | 'day' | 'week' | 'month' | 'total'

/** The limit per window; a missing window has no limit. */
export type WindowLimits = { -readonly [W in LimitWindow]?: number }

/** Usage limits for a key, a group of keys, or the gateway. */
export interface UsageLimits {
  /** Number of requests. */
  requests?: WindowLimits
  /** Number of tokens: input, including cached input, and output. */
  tokens?: WindowLimits
  /** Spending in USD. */
  usd?: WindowLimits
  /** Concurrent requests, across all instances. */
  parallel?: number
}

/** The unit that a limit counts. */
export type LimitUnit = 'requests' | 'tokens' | 'usd' | 'parallel'

/** The scope of a limit; `run` is a token's scope. */
export type LimitScope = 'key' | 'account' | 'group' | 'gateway' | 'run'

/** A limit and its remaining amount. Counts are in the limit's unit; `remaining` is never negative. */
export interface LimitState {
  scope: LimitScope
  /** The ID of the key, group, or token, or the account's ref. */
  id?: string
  unit: LimitUnit
  /** The window, or `null` for `parallel`. */
  window: LimitWindow | null
  limit: number
  /** The settled amount. */
  used: number
  /** The maximum that in-flight requests can still use. */
  reserved: number
  /** The amount reserved by instances that are no longer running. For tokens and USD, it counts as used. */
  unsettled: number
  remaining: number
  /** When the window ends, in ISO 8601, or `null` for `total` and `parallel`. */
  resetsAt: IsoTime | null
}
