import type { FailureClass } from '../formats/errors/kinds.ts'
import type { HealthTerms } from '../types.ts'

export type { FailureClass }

/** What a failure counts against: the connection, or one model on it. A failing model never takes its connection out of use. */
export type HealthLevel = 'connection' | 'model'

/** The cooldown that failures of one class cause. */
export interface CooldownRule {
  level: HealthLevel
  /** `at-once`: the first failure starts the cooldown; `by-share`: the share of failures among the latest calls does (`HealthTerms`). */
  starts: 'at-once' | 'by-share'
  /** The first cooldown in ms; it doubles each time a probe fails, up to `maxMs`. Default: that of the `HealthTerms`. */
  baseMs?: number
  maxMs?: number
}

/** Health terms, and the combo whose requests alone they are for; absent: for all others. */
export interface ScopedTerms extends HealthTerms {
  combo?: string | undefined
}

const SECOND = 1_000
const MINUTE = 60 * SECOND

/** The terms that hold where neither the settings nor the combo of the request set others. */
export const defaultHealthTerms: HealthTerms = {
  failureShare: 0.5,
  windowMs: MINUTE,
  minCalls: 5,
  cooldownMs: 5 * SECOND,
  maxCooldownMs: 5 * MINUTE,
}

/** For failures that happen now and then, so that one alone is no evidence. */
export const unsteady: CooldownRule = { level: 'model', starts: 'by-share' }

/** For a key that is refused. */
export const refusedKey = { level: 'connection', starts: 'at-once', baseMs: MINUTE, maxMs: 30 * MINUTE } as const

/** How failures of one class are handled. */
interface FailureRule {
  /** Whose fault it is. */
  fault: 'client' | 'account' | 'model' | 'provider' | 'gateway'
  /** Absent: such failures do not affect health. */
  cooldown?: CooldownRule
  /** Do they count against the whole provider when several of its connections fail with them? */
  isOfProvider?: true
  /** Does no other call to the target succeed before its cooldown is over? */
  isLasting?: true
  /** Is the target worth another request once its cooldown is over, so that clients are told to retry then? */
  isOverInTime?: true
}

export const failureRules: Readonly<Record<FailureClass, FailureRule>> = {
  client: { fault: 'client' },
  'context-overflow': { fault: 'client' },
  format: { fault: 'gateway' },
  'over-budget': { fault: 'account' },
  credentials: { fault: 'account', cooldown: refusedKey, isLasting: true },
  forbidden: { fault: 'account', cooldown: unsteady }, // and against the key, when several clients in a row get it
  'rate-limit': {
    fault: 'account',
    cooldown: { level: 'connection', starts: 'at-once', baseMs: SECOND, maxMs: MINUTE },
    isOverInTime: true,
  },
  server: { fault: 'provider', cooldown: unsteady, isOfProvider: true, isOverInTime: true },
  // An address that cannot be reached is reported as certain, and as a failure of the connection.
  network: { fault: 'provider', cooldown: unsteady, isOfProvider: true, isOverInTime: true },
  timeout: { fault: 'provider', cooldown: unsteady, isOfProvider: true, isOverInTime: true },
  content: { fault: 'provider', cooldown: unsteady, isOverInTime: true },
  'model-not-found': {
    fault: 'model',
    cooldown: { level: 'model', starts: 'at-once', baseMs: 5 * MINUTE, maxMs: 60 * MINUTE },
    isLasting: true,
  },
  internal: { fault: 'gateway' },
}
