import type { HealthTerms } from '../types.ts'

/** Why an attempt failed. Only `client` is the caller's own fault and is answered at once; all others may go to the next target. */
export type FailureClass =
  | 'client'
  | 'context-overflow'
  | 'format' // the target's format cannot say what the client asks
  | 'over-budget' // the request alone costs more than the account may spend at once
  | 'credentials'
  | 'forbidden' // a 403 that does not say whether it is about the key or about the request
  | 'rate-limit'
  | 'server'
  | 'network'
  | 'timeout'
  | 'content'
  | 'model-not-found'
  | 'internal' // the gateway's own fault

/** What a failure counts against: the connection, or one model on it. A failing model never takes its connection out of use. */
export type HealthLevel = 'connection' | 'model'

/** The cooldown that failures of one class cause. */
export interface Cooling {
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
export const unsteady: Cooling = { level: 'model', starts: 'by-share' }

/** For a key that is refused. */
export const refusedKey = { level: 'connection', starts: 'at-once', baseMs: MINUTE, maxMs: 30 * MINUTE } as const

/** By class; classes that are missing do not affect health. */
export const coolings: Readonly<Partial<Record<FailureClass, Cooling>>> = {
  credentials: refusedKey,
  forbidden: unsteady, // and against the key, when it is answered to several clients in a row
  'rate-limit': { level: 'connection', starts: 'at-once', baseMs: SECOND, maxMs: MINUTE },
  network: unsteady, // an address that cannot be reached is reported as certain, and as the connection's
  server: unsteady,
  timeout: unsteady,
  content: unsteady,
  'model-not-found': { level: 'model', starts: 'at-once', baseMs: 5 * MINUTE, maxMs: 60 * MINUTE },
}

/** Classes that count against the whole provider when several of its connections fail with them. */
export const ofProvider: ReadonlySet<FailureClass> = new Set(['server', 'network', 'timeout'])

/** Classes that no other call to the target mends before its cooldown is over. */
export const lasting: ReadonlySet<FailureClass> = new Set(['credentials', 'model-not-found'])
