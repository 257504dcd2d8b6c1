import { integer, type NumberShape, type ObjectOf, object, type Shape } from './shapes.ts'

const HOUR_MS = 3_600_000

/** Creates a shape whose limits don't apply to stored values. */
const toAmountShape = (shape: Shape<number> & NumberShape): Shape<number> => ({ ...shape, isReadAsAmount: true })

const durationMs = toAmountShape(integer(1, 24 * HOUR_MS))

const healthTerms = {
  /** Share of failed calls that starts a cooldown, above 0 and up to 1. Default: 0.5. */
  failureShare: {
    shape: toAmountShape({ type: 'number', above: 0, max: 1 }),
    isOptional: true,
  },
  /** The period over which calls are counted, in ms. Default: 60,000. */
  windowMs: { shape: toAmountShape(integer(1_000, HOUR_MS)), isOptional: true },
  /** Calls required before a cooldown can start. Default: 5. Definitive failures start a cooldown immediately. */
  minCalls: { shape: toAmountShape(integer(1, 10_000)), isOptional: true },
  /** The first cooldown, in ms. Default: 5,000. It doubles each time a probe fails. */
  cooldownMs: { shape: durationMs, isOptional: true },
  /** Maximum cooldown, in ms. Default: 300,000. */
  maxCooldownMs: { shape: durationMs, isOptional: true },
} as const

const timeouts = {
  /** Maximum time until the response headers, or until a stream's first content, in ms. Default: 120,000. */
  headersMs: { shape: durationMs, isOptional: true },
  /** Maximum pause between two response chunks, in ms. Default: 60,000. */
  idleMs: { shape: durationMs, isOptional: true },
  /** Maximum time until the last byte of a non-streaming response, in ms. Default: 600,000. */
  totalMs: { shape: durationMs, isOptional: true },
} as const

/** When failures put a target in cooldown (circuit breaker), and for how long (docs/src/content/docs/reference/combos-and-strategies.md). Times in ms. */
export interface HealthTerms extends Required<ObjectOf<typeof healthTerms>> {}

/** Timeouts for one provider call, in ms. */
export interface Timeouts extends Required<ObjectOf<typeof timeouts>> {}

export const ruleFields = { health: healthTerms, timeouts }

/** Routing rules, which the settings set for all requests and a combo for its own. */
export const ruleShapes = {
  health: object(healthTerms) as Shape<Partial<HealthTerms>>,
  maxAttempts: integer(1, 100),
  timeouts: object(timeouts) as Shape<Partial<Timeouts>>,
}

/** A combo's rules. Each is replaced as a whole, and checked where it is used. */
export const comboRuleShapes = {
  health: object(healthTerms, { isCheckedOnUse: true, rules: 'cooldowns' }) as Shape<Partial<HealthTerms>>,
  maxAttempts: ruleShapes.maxAttempts,
  timeouts: object(timeouts, { isCheckedOnUse: true }) as Shape<Partial<Timeouts>>,
}

export const storedMaxAttemptsShape = toAmountShape(ruleShapes.maxAttempts)

/**
 * Routing rules. The settings set them for all requests, and a combo for its own. If a combo omits a rule, the rule comes from the settings. If the
 * settings also omit it, its default applies.
 */
export interface RequestRules {
  health?: Partial<HealthTerms>
  /** Maximum attempts per request, across all targets. Default: 3. */
  maxAttempts?: number
  timeouts?: Partial<Timeouts>
}

/** The rules in effect, with nothing omitted. */
export interface EffectiveRules {
  health: HealthTerms
  maxAttempts: number
  timeouts: Timeouts
}
