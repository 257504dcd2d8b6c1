import type { EffectiveRules, HealthTerms, RequestRules } from '../../types.ts'

/** The terms that apply if neither the settings nor the request's combo set others. */
export const defaultHealthTerms: HealthTerms = {
  failureShare: 0.5,
  windowMs: 60_000,
  minCalls: 5,
  cooldownMs: 5_000,
  maxCooldownMs: 300_000,
}

/** The gateway limits that rules can override. */
export interface OverridableLimits {
  maxAttempts: number
  headersTimeoutMs: number
  idleTimeoutMs: number
  totalTimeoutMs: number
}

/** Merges a request's rules. Each of the `layers` overrides the ones before it: first the settings, then a combo. */
export function mergeRules(
  limits: OverridableLimits,
  ...layers: ReadonlyArray<RequestRules | undefined>
): EffectiveRules {
  const { maxAttempts, headersTimeoutMs: headersMs, idleTimeoutMs: idleMs, totalTimeoutMs: totalMs } = limits
  let rules: EffectiveRules = {
    health: defaultHealthTerms,
    maxAttempts,
    timeouts: { headersMs, idleMs, totalMs },
  }
  for (const layer of layers)
    rules = {
      health: { ...rules.health, ...layer?.health },
      maxAttempts: layer?.maxAttempts ?? rules.maxAttempts,
      timeouts: { ...rules.timeouts, ...layer?.timeouts },
    }
  return rules
}

/** Overrides the limits with the rules. */
export const applyRules = <L extends OverridableLimits>(limits: L, { maxAttempts, timeouts }: EffectiveRules): L => ({
  ...limits,
  maxAttempts,
  headersTimeoutMs: timeouts.headersMs,
  idleTimeoutMs: timeouts.idleMs,
  totalTimeoutMs: timeouts.totalMs,
})
