import type { JsonObject } from '../../lib/json.ts'
import type { ReasoningTraits, Traits } from '../../traits.ts'
import type { ReasoningOptions } from '../canonical/request.ts'

/*
 * What Converse leaves to the models: each vendor's own fields, in its own words. They go into `additionalModelRequestFields`.
 */

/** How the model is asked to think; nothing where it cannot be, or where only the showing of thoughts was asked for. */
export function reasoningFields(
  { effort, budget, show }: ReasoningOptions,
  { by, budgets, off }: ReasoningTraits,
): JsonObject {
  if (effort === undefined && budget === undefined) return {}
  const isOff = effort === 'none'
  const display = show && { display: show === 'none' ? 'omitted' : 'summarized' }
  switch (by) {
    case 'adaptive': // Claude, from 4.6 on
      if (isOff) return { thinking: { type: off } }
      return {
        thinking: { type: 'adaptive', ...display },
        ...(effort && { output_config: { effort: effort === 'minimal' ? 'low' : effort } }),
      }
    case 'budget': // Claude, until 4.5
      if (isOff) return { thinking: { type: 'disabled' } }
      return {
        thinking: {
          type: 'enabled',
          budget_tokens: typeof budget === 'number' ? budget : budgets[effort ?? 'medium'],
          ...display,
        },
      }
    case 'level': // Nova
      if (isOff) return { reasoningConfig: { type: 'disabled' } }
      return { reasoningConfig: { type: 'enabled', maxReasoningEffort: effort ?? 'medium' } }
    case 'effort': // gpt-oss
      return isOff ? {} : { reasoning_effort: effort ?? 'medium' }
    case 'reasoning_config': // Qwen
      return isOff ? {} : { reasoning_config: effort ?? 'medium' }
    default:
      return {}
  }
}

/** Of the options the one that Converse has no place for. */
export const topKFields = (topK: number, { topKField }: Pick<Traits, 'topKField'>): JsonObject =>
  topKField === 'top_k' ? { top_k: topK } : { inferenceConfig: { topK } }
