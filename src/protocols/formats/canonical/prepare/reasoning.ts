import type { Effort, ReasoningTraits, Traits } from '../../../../traits.ts'
import type { TargetContext } from '../../translator.ts'
import { ALL_EFFORTS } from '../base-traits.ts'
import type { AssistantPart, UserPart } from '../canonical-parts.ts'
import type { ReasoningOptions, RequestOptions } from '../canonical-request.ts'
import { belongsTo, type Origin } from '../canonical-state.ts'
import type { Tool, ToolChoice } from '../canonical-tools.ts'
import type { AssistantTurn, Turn } from '../canonical-turns.ts'
import { omitUndefined } from '../canonical-values.ts'
import type { Warnings } from '../canonical-warnings.ts'

interface ReasoningSettings {
  /** Changed in place. */
  options: RequestOptions
  tools: readonly Tool[]
  toolChoice: ToolChoice | undefined
}

/**
 * Reconciles effort, budget, and tool choice. If the target can't reason before a forced call, the call takes precedence over an effort, but not over
 * a budget. If the target can't reason with the client's tools, they always take precedence. Drops the options that the target rejects while
 * reasoning.
 */
export function resolveReasoning(
  { options, tools, toolChoice }: ReasoningSettings,
  target: TargetContext,
): ToolChoice | undefined {
  const { traits, warnings } = target
  const { rejectsForcedTool, rejectsTools } = traits.reasoning
  const requestedReasoning = options.reasoning
  if (requestedReasoning) {
    delete options.reasoning
    const outputLimit = options.maxOutputTokens ?? traits.maxOutputTokens
    const reasoning = fitReasoning(requestedReasoning, { traits, warnings, maxOutputTokens: outputLimit })
    if (reasoning) options.reasoning = reasoning
  }

  let choice = toolChoice
  const isForced = choice?.type === 'required' || choice?.type === 'tool'
  const hasConflict =
    (rejectsForcedTool && isForced) || (rejectsTools && tools.some(({ type }) => type !== 'web-search'))
  if (hasConflict && reasonsByTraits(options.reasoning, traits)) {
    if (rejectsTools || requestedReasoning?.budget === undefined) disableReasoning(options, target)
    else {
      warnings.recordChange('toolChoice', 'replaced')
      choice = { type: 'auto' }
    }
  }
  if (reasonsByTraits(options.reasoning, traits)) dropExcludedOptions(options, target)
  return choice
}

function reasonsByTraits(reasoning: ReasoningOptions | undefined, { reasoning: { isDefault } }: Traits): boolean {
  const { effort, budget } = reasoning ?? {}
  return effort === undefined && budget === undefined ? isDefault : effort !== 'none'
}

/** Sends the effort `none` only to a target that reasons by default and accepts it. */
function disableReasoning(options: RequestOptions, { traits, warnings }: TargetContext) {
  const { efforts, isDefault } = traits.reasoning
  if (options.reasoning) warnings.recordDrop('reasoning')
  else warnings.recordChange('reasoning', 'added')
  delete options.reasoning
  if (isDefault && efforts.includes('none')) options.reasoning = { effort: 'none', budget: 0 }
}

function dropExcludedOptions(options: RequestOptions, { traits, warnings }: TargetContext) {
  for (const name of traits.reasoning.excludes) {
    if (options[name] === undefined) continue
    warnings.recordDrop(name)
    delete options[name]
  }
}

interface BudgetTarget {
  traits: { reasoning: ReasoningTraits }
  warnings: Warnings
  maxOutputTokens: number | undefined
}

/** Reconciles effort and budget with each other and with the target. Both are absent if the client only chose whether to show reasoning. */
function fitReasoning(requestedReasoning: ReasoningOptions, target: BudgetTarget): ReasoningOptions | undefined {
  const { traits, warnings } = target
  const { reasoning } = traits
  const showsReasoning = requestedReasoning.show !== undefined && requestedReasoning.show !== 'none'
  if (requestedReasoning.effort === undefined && requestedReasoning.budget === undefined) {
    if (reasoning.control !== 'none') return requestedReasoning
    if (showsReasoning) warnings.recordDrop('show')
    return undefined
  }
  if (reasoning.control === 'none') {
    if (requestedReasoning.effort !== 'none' && requestedReasoning.budget !== 0) warnings.recordDrop('reasoning')
    if (showsReasoning) warnings.recordDrop('show')
    return undefined
  }
  const isAutoBudget = requestedReasoning.effort === undefined && requestedReasoning.budget === 'auto'
  const supportsAutoBudget = reasoning.isDefault || reasoning.control !== 'effort' // the model reasons by default, or can decide for itself
  if (isAutoBudget && reasoning.control !== 'budget' && supportsAutoBudget) return requestedReasoning
  const wantedEffort =
    requestedReasoning.effort ??
    (typeof requestedReasoning.budget === 'number' ? toEffort(requestedReasoning.budget) : 'medium')
  const effort = findNearestEffort(wantedEffort, reasoning.efforts)
  if (effort !== wantedEffort) warnings.recordChange('reasoning', 'clamped')
  const budget = effort === 'none' ? 0 : fitBudget(effort, requestedReasoning.budget, target)
  if (budget !== undefined) return omitUndefined<ReasoningOptions>({ effort, budget, show: requestedReasoning.show })
  warnings.recordDrop('reasoning') // the output limit leaves no room for reasoning
  return reasoning.efforts.includes('none') ? { effort: 'none', budget: 0 } : undefined
}

/** Converts a budget to an effort, using the thresholds that other gateways use. No budget maps to `minimal` or `max`. */
export function toEffort(budget: number): Effort {
  if (budget === 0) return 'none'
  if (budget <= 2_048) return 'low'
  if (budget < 10_000) return 'medium'
  return budget < 24_000 ? 'high' : 'xhigh'
}

function findNearestEffort(requestedEffort: Effort, efforts: readonly Effort[]): Effort {
  if (efforts.length === 0 || efforts.includes(requestedEffort)) return requestedEffort
  const index = ALL_EFFORTS.indexOf(requestedEffort)
  // `none` isn't close to any other effort. A request for reasoning must get some.
  const others = requestedEffort === 'none' ? efforts : efforts.filter((effort) => effort !== 'none')
  const candidates = others.length > 0 ? others : efforts
  const getDistance = (effort: Effort) => Math.abs(ALL_EFFORTS.indexOf(effort) - index)
  return candidates.reduce((best, effort) => (getDistance(effort) < getDistance(best) ? effort : best))
}

/** Fits the reasoning tokens into the target's range and the output limit. Returns `undefined` if none fit. */
function fitBudget(
  effort: Effort,
  requestedBudget: ReasoningOptions['budget'],
  target: BudgetTarget,
): number | 'auto' | undefined {
  const { traits, warnings, maxOutputTokens = Number.POSITIVE_INFINITY } = target
  const { control, budgets, minBudget, maxBudget } = traits.reasoning
  if (requestedBudget === 'auto' && control !== 'budget') return 'auto'
  const wantedTokens = typeof requestedBudget === 'number' ? requestedBudget : budgets[effort]
  const availableTokens =
    typeof requestedBudget === 'number'
      ? maxOutputTokens - 1
      : Math.max(minBudget, Math.floor(maxOutputTokens * REASONING_SHARE))
  const budget = Math.min(Math.max(wantedTokens, minBudget), maxBudget, availableTokens)
  if (control !== 'budget') return budget
  if (budget < minBudget || budget >= maxOutputTokens) return undefined
  if (typeof requestedBudget === 'number' && budget !== requestedBudget) warnings.recordChange('reasoning', 'clamped')
  return budget
}

/** The share of the output limit that reasoning may use, to leave room for the response. */
const REASONING_SHARE = 0.8

/**
 * Keeps reasoning and signatures only if this target produced them and accepts them. Drops all others without a warning, because no other provider
 * can read them.
 */
export function filterVendorState(turns: readonly Turn[], origin: Origin, replay: ReasoningTraits['replay']): Turn[] {
  const loopStart = turns.findLastIndex(({ role }) => role === 'user')
  return turns.map((turn, index) => {
    if (turn.role === 'user') return { ...turn, content: turn.content.map((part) => filterPartState(part, origin)) }
    if (turn.role !== 'assistant') return turn
    const keepsReasoning = replay === 'always' || (replay === 'tool-loop' && index > loopStart)
    return filterTurnState(turn, origin, keepsReasoning)
  })
}

function filterTurnState(turn: AssistantTurn, origin: Origin, keepsReasoning: boolean): AssistantTurn {
  const content = turn.content.flatMap((part): AssistantPart[] => {
    if (part.type !== 'reasoning') return [filterPartState(part, origin)]
    return keepsReasoning && part.state && belongsTo(part.state, origin) ? [part] : []
  })
  return { ...turn, content }
}

function filterPartState<P extends UserPart | AssistantPart>(part: P, origin: Origin): P {
  if (!('state' in part) || !part.state || belongsTo(part.state, origin)) return part
  const { state: _, ...rest } = part
  return rest as P // every part's state is optional, so the rest is still a `P`
}
