import type { FailureClass } from '../../protocols/formats/errors/error-kinds.ts'
import type { HealthTerms } from '../../types.ts'

export type { FailureClass }

/** The level that a failure counts against: the connection, or one model on it. A failing model doesn't take its connection out of use. */
export type HealthLevel = 'connection' | 'model'

/** The cooldown that one class's failures cause. */
export interface CooldownRule {
  level: HealthLevel
  /** When the cooldown starts: `at-once` after the first failure, `by-share` once enough of the latest calls have failed (`HealthTerms`). */
  starts: 'at-once' | 'by-share'
  /** The first cooldown in ms; it doubles each time a probe fails, up to `maxMs`. Default: the one in `HealthTerms`. */
  baseMs?: number
  maxMs?: number
}

/** Health terms, and the combo whose requests they apply to; without a combo, they apply to all other requests. */
export interface ScopedHealthSettings extends HealthTerms {
  combo?: string | undefined
}

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS

/** The cooldown for occasional failures, because a single failure isn't evidence. */
export const sporadicCooldown: CooldownRule = { level: 'model', starts: 'by-share' }

/** The cooldown for a rejected key. */
export const rejectedKeyCooldown = {
  level: 'connection',
  starts: 'at-once',
  baseMs: MINUTE_MS,
  maxMs: 30 * MINUTE_MS,
} as const

/** How to handle one class's failures. */
interface FailureRule {
  /** The cause of the failure. */
  fault: 'client' | 'account' | 'model' | 'provider' | 'gateway'
  /** The cooldown for such failures. If absent, they don't affect health. */
  cooldown?: CooldownRule
  /** Whether such failures count against the entire provider if they occur on several of its connections. */
  affectsProvider?: true
  /** Whether no other call to the target can succeed before its cooldown is over. */
  isPersistent?: true
  /** Whether the target may succeed once its cooldown is over. If so, clients are told to retry then. */
  isTransient?: true
}

export const failureRules: Readonly<Record<FailureClass, FailureRule>> = {
  client: { fault: 'client' },
  'context-overflow': { fault: 'client' },
  format: { fault: 'gateway' },
  'over-budget': { fault: 'account' },
  credentials: { fault: 'account', cooldown: rejectedKeyCooldown, isPersistent: true },
  forbidden: { fault: 'account', cooldown: sporadicCooldown }, // also counts against the key if several clients in a row get it
  'rate-limit': {
    fault: 'account',
    cooldown: { level: 'connection', starts: 'at-once', baseMs: SECOND_MS, maxMs: MINUTE_MS },
    isTransient: true,
  },
  server: { fault: 'provider', cooldown: sporadicCooldown, affectsProvider: true, isTransient: true },
  // An unreachable URL is reported with `isCertain`, and as a connection failure.
  network: { fault: 'provider', cooldown: sporadicCooldown, affectsProvider: true, isTransient: true },
  timeout: { fault: 'provider', cooldown: sporadicCooldown, affectsProvider: true, isTransient: true },
  content: { fault: 'provider', cooldown: sporadicCooldown, isTransient: true },
  filtered: { fault: 'model' },
  schema: { fault: 'model' },
  unwanted: { fault: 'model' },
  'model-not-found': {
    fault: 'model',
    cooldown: { level: 'model', starts: 'at-once', baseMs: 5 * MINUTE_MS, maxMs: 60 * MINUTE_MS },
    isPersistent: true,
  },
  internal: { fault: 'gateway' },
}
