/** A calendar window in UTC; weeks begin on Monday, `total` never ends. */
export type LimitWindow = 'minute' | 'hour' | 'day' | 'week' | 'month' | 'total'

/** The most in each window; a window that is absent has no limit. */
export type WindowLimits = { -readonly [W in LimitWindow]?: number }

/** What a key, a group of keys or the gateway may use. */
export interface UsageLimits {
  /** Whole numbers of requests. */
  requests?: WindowLimits
  /** Whole numbers of tokens: input, cached input included, and output. */
  tokens?: WindowLimits
  /** US dollars. */
  usd?: WindowLimits
  /** Requests under way at once, a whole number. */
  parallel?: number
}

/** What a limit counts. */
export type LimitUnit = 'requests' | 'tokens' | 'usd' | 'parallel'

/** Whose limit it is. */
export type LimitScope = 'key' | 'group' | 'gateway'

/** One limit and what is left of it. Counts are in the limit's unit; `remaining` is never below 0. */
export interface LimitState {
  scope: LimitScope
  /** The id of the key or group. */
  id?: string
  unit: LimitUnit
  /** `null` for `parallel`. */
  window: LimitWindow | null
  limit: number
  /** The settled amount. */
  used: number
  /** What requests under way may use at most. */
  reserved: number
  /** What instances that are gone had reserved, which counts as used in tokens and USD. */
  unsettled: number
  remaining: number
  /** When the window ends, ISO 8601; `null` for `total` and `parallel`. */
  resetsAt: string | null
}
