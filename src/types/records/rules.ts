import { type NumberShape, type ObjectOf, object, type Shape, whole } from './shapes.ts'

const HOUR = 3_600_000

/** A number of which any amount is used that is stored. */
const amount = (shape: Shape<number> & NumberShape): Shape<number> => ({ ...shape, isReadAsAmount: true })

const ms = amount(whole(1, 24 * HOUR))

const healthTerms = {
  /** The share of failed calls that starts a cooldown, above 0 and up to 1; default 0.5. */
  failureShare: {
    shape: amount({ type: 'number', above: 0, most: 1 }),
    isOptional: true,
  },
  /** The period in which calls count; default 60,000. */
  windowMs: { shape: amount(whole(1_000, HOUR)), isOptional: true },
  /** The number of calls before which no cooldown starts; default 5. It does not apply to failures that are certain. */
  minCalls: { shape: amount(whole(1, 10_000)), isOptional: true },
  /** The first cooldown; it doubles each time a probe fails; default 5,000. */
  cooldownMs: { shape: ms, isOptional: true },
  /** The longest cooldown; default 300,000. */
  maxCooldownMs: { shape: ms, isOptional: true },
} as const

const timeouts = {
  /** To the headers of the answer, and for a stream to its first content; default 120,000. */
  headersMs: { shape: ms, isOptional: true },
  /** Between two chunks of the answer; default 60,000. */
  idleMs: { shape: ms, isOptional: true },
  /** To the last byte of an answer that is not streamed; default 600,000. */
  totalMs: { shape: ms, isOptional: true },
} as const

/** When failures start a cooldown of a target, and how long it lasts (src/routing/README.md). Times in ms. */
export interface HealthTerms extends Required<ObjectOf<typeof healthTerms>> {}

/** The time-outs of one call to a provider, in ms. */
export interface Timeouts extends Required<ObjectOf<typeof timeouts>> {}

/** The members of the rules that have some. */
export const ruleMembers = { health: healthTerms, timeouts }

/** The rules for requests that the settings may set, and each combo for its own requests. */
export const ruleShapes = {
  health: object(healthTerms) as Shape<Partial<HealthTerms>>,
  maxAttempts: whole(1, 100),
  timeouts: object(timeouts) as Shape<Partial<Timeouts>>,
}

/** Those of a combo: each is set as a whole, and looked into where it is used. */
export const comboRuleShapes = {
  health: object(healthTerms, { isReadWhole: true, rules: 'cooldowns' }) as Shape<Partial<HealthTerms>>,
  maxAttempts: ruleShapes.maxAttempts,
  timeouts: object(timeouts, { isReadWhole: true }) as Shape<Partial<Timeouts>>,
}

export const storedAttempts = amount(ruleShapes.maxAttempts)

/**
 * Rules for requests. The settings can set them for all requests, and a combo for its own. An absent rule of a combo is that of the settings; an
 * absent rule of the settings has its default.
 */
export interface RequestRules {
  health?: Partial<HealthTerms>
  /** Attempts for one request, all targets together; default 3. */
  maxAttempts?: number
  timeouts?: Partial<Timeouts>
}

/** The same with nothing left out: the rules that hold. */
export interface EffectiveRules {
  health: HealthTerms
  maxAttempts: number
  timeouts: Timeouts
}
