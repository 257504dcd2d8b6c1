import type { Effort, ReasoningTraits } from '../../../traits.ts'
import { EFFORTS } from '../base-traits.ts'
import { defined } from '../defined.ts'
import type { ReasoningOptions } from '../request.ts'
import type { Warnings } from '../warnings.ts'

interface Target {
  traits: { reasoning: ReasoningTraits }
  warnings: Warnings
  maxOutputTokens: number | undefined
}

/**
 * How the target is to think: effort and budget both, agreeing with each other and with what it takes. An effort that is absent beside
 * `auto` is the model's own choice; both are absent when the client only said whether it wants to read the thoughts.
 */
export function prepareReasoning(asked: ReasoningOptions, target: Target): ReasoningOptions | undefined {
  const { traits, warnings } = target
  const { reasoning } = traits
  const isShown = asked.show !== undefined && asked.show !== 'none'
  if (asked.effort === undefined && asked.budget === undefined) {
    if (reasoning.by !== 'none') return asked
    if (isShown) warnings.dropped('show')
    return undefined
  }
  if (reasoning.by === 'none') {
    if (asked.effort !== 'none' && asked.budget !== 0) warnings.dropped('reasoning')
    if (isShown) warnings.dropped('show')
    return undefined
  }
  const isAuto = asked.effort === undefined && asked.budget === 'auto'
  const saysAuto = reasoning.isDefault || reasoning.by !== 'effort' // of itself, or since it can be told
  if (isAuto && reasoning.by !== 'budget' && saysAuto) return asked
  const wanted = asked.effort ?? (typeof asked.budget === 'number' ? effortOf(asked.budget) : 'medium')
  const effort = nearestEffort(wanted, reasoning.efforts)
  if (effort !== wanted) warnings.changed('reasoning', 'clamped')
  const budget = effort === 'none' ? 0 : budgetFor(effort, asked.budget, target)
  if (budget !== undefined) return defined<ReasoningOptions>({ effort, budget, show: asked.show })
  warnings.dropped('reasoning') // no thought fits into the limit
  return reasoning.efforts.includes('none') ? { effort: 'none', budget: 0 } : undefined
}

/** The effort that a budget stands for, by the bounds that gateways agree on. The ends of the scale are for those who name them. */
export function effortOf(budget: number): Effort {
  if (budget === 0) return 'none'
  if (budget <= 2_048) return 'low'
  if (budget < 10_000) return 'medium'
  return budget < 24_000 ? 'high' : 'xhigh'
}

function nearestEffort(wanted: Effort, efforts: readonly Effort[]): Effort {
  if (efforts.length === 0 || efforts.includes(wanted)) return wanted
  const at = EFFORTS.indexOf(wanted)
  // No thought at all is not near to a little of it.
  const others = wanted === 'none' ? efforts : efforts.filter((effort) => effort !== 'none')
  const candidates = others.length > 0 ? others : efforts
  const distance = (effort: Effort) => Math.abs(EFFORTS.indexOf(effort) - at)
  return candidates.reduce((best, effort) => (distance(effort) < distance(best) ? effort : best))
}

/** Tokens of thought within the target's range and the limit of the answer; undefined when there is no room for any. */
function budgetFor(effort: Effort, asked: ReasoningOptions['budget'], target: Target): number | 'auto' | undefined {
  const { traits, warnings, maxOutputTokens = Number.POSITIVE_INFINITY } = target
  const { by, budgets, minBudget, maxBudget } = traits.reasoning
  if (asked === 'auto' && by !== 'budget') return 'auto'
  const wanted = typeof asked === 'number' ? asked : budgets[effort]
  const room =
    typeof asked === 'number' ? maxOutputTokens - 1 : Math.max(minBudget, Math.floor(maxOutputTokens * SHARE))
  const budget = Math.min(Math.max(wanted, minBudget), maxBudget, room)
  if (by !== 'budget') return budget
  if (budget < minBudget || budget >= maxOutputTokens) return undefined
  if (typeof asked === 'number' && budget !== asked) warnings.changed('reasoning', 'clamped')
  return budget
}

/** Of the limit that may go to thoughts, so that something is left to say. */
const SHARE = 0.8
