import type { ReasoningTraits } from '../../traits.ts'
import type { ReasoningOptions } from '../canonical/request.ts'
import type { TargetContext } from '../translator.ts'
import type { WireMessageParam, WireOutputConfig, WireThinkingConfig } from './wire-request.ts'

/** How a provider is asked to think: by an effort, or by a budget of tokens. */
export interface WrittenThinking {
  thinking?: WireThinkingConfig
  effort?: NonNullable<WireOutputConfig['effort']>
}

/**
 * A model that thinks by budget wants the thoughts of a tool loop back; where they are lost, as after an answer of another provider, it does
 * not think until the loop is over. It continues no beginning of an answer either.
 */
export function writeThinking(
  reasoning: ReasoningOptions | undefined,
  messages: readonly WireMessageParam[],
  { traits, warnings }: TargetContext,
): WrittenThinking {
  const { by } = traits.reasoning
  if (!reasoning || by === 'none') return {}
  const { effort, budget, show } = reasoning
  if (effort === undefined && budget === undefined) return {} // only how to show thoughts that nobody asked for
  if (effort === 'none') return by === 'effort' ? {} : { thinking: { type: traits.reasoning.off } }
  const wished = effort && { effort: effort === 'minimal' ? ('low' as const) : effort }
  if (by === 'effort') return { ...wished }
  const display = show && ({ display: show === 'none' ? 'omitted' : 'summarized' } as const)
  if (by === 'adaptive') return { thinking: { type: 'adaptive', ...display }, ...wished }
  if (lacksThoughts(messages)) {
    warnings.dropped('reasoning')
    return { thinking: { type: 'disabled' } }
  }
  return { thinking: { type: 'enabled', budget_tokens: budgetOf(reasoning, traits.reasoning), ...display } }
}

/** The tokens of thought that a request may cost. */
export function budgetOf({ effort = 'medium', budget }: ReasoningOptions, { budgets }: ReasoningTraits): number {
  return typeof budget === 'number' ? budget : budgets[effort]
}

/** Does the model's turn that the request goes on with begin without its thoughts? */
function lacksThoughts(messages: readonly WireMessageParam[]): boolean {
  let first: WireMessageParam | undefined // of the turn: everything behind the last message that is more than results
  for (const message of messages.toReversed()) {
    if (message.role === 'assistant') first = message
    else if (message.role === 'system' || message.content[0]?.type !== 'tool_result') break
  }
  const type = first?.content[0]?.type
  return type !== undefined && type !== 'thinking' && type !== 'redacted_thinking'
}
