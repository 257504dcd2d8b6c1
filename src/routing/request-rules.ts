import type { EffectiveRules, RequestRules } from '../types.ts'
import { defaultHealthTerms } from './failure-class.ts'

/** The limits of a gateway that rules can replace. */
export interface RuledLimits {
  maxAttempts: number
  headersTimeoutMs: number
  silenceTimeoutMs: number
  totalTimeoutMs: number
}

/** The rules for a request, where each of `layers` overrides those before it: first the settings, then a combo. */
export function effectiveRules(
  limits: RuledLimits,
  ...layers: ReadonlyArray<RequestRules | undefined>
): EffectiveRules {
  const { maxAttempts, headersTimeoutMs: headersMs, silenceTimeoutMs: idleMs, totalTimeoutMs: totalMs } = limits
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

/** The limits, with those that the rules replace. */
export const limitsUnder = <L extends RuledLimits>(limits: L, { maxAttempts, timeouts }: EffectiveRules): L => ({
  ...limits,
  maxAttempts,
  headersTimeoutMs: timeouts.headersMs,
  silenceTimeoutMs: timeouts.idleMs,
  totalTimeoutMs: timeouts.totalMs,
})
