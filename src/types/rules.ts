/** By which failures a target cools, and for how long (src/routing/README.md). Times in ms. */
export interface HealthTerms {
  /** The share of failed calls, above 0 and up to 1, from which on a target cools; default 0.5. */
  failureShare: number
  /** The calls of so long count; default 60,000. */
  windowMs: number
  /** No cooldown starts before so many calls; default 5. Failures that are certain do not wait for them. */
  minCalls: number
  /** The first cooldown; it doubles each time a probe fails; default 5,000. */
  cooldownMs: number
  /** The longest cooldown; default 300,000. */
  maxCooldownMs: number
}

/** The time-outs of one call to a provider, in ms. */
export interface Timeouts {
  /** To the headers of the answer, and for a stream to its first content; default 120,000. */
  headersMs: number
  /** Between two chunks of the answer; default 60,000. */
  idleMs: number
  /** To the last byte of an answer that is not streamed; default 600,000. */
  totalMs: number
}

/** Rules for requests that the settings may set, and each combo for its own requests; what is absent is as it is without. */
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
