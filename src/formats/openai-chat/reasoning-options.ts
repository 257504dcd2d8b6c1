import type { JsonObject } from '../../lib/json.ts'
import type { ReasoningTraits } from '../../traits.ts'
import { EFFORTS } from '../canonical/base-traits.ts'
import { defined } from '../canonical/defined.ts'
import type { Fields } from '../canonical/fields.ts'
import type { ReasoningOptions } from '../canonical/request.ts'

/** How a client asks for thoughts: OpenAI's effort, or the switch of one of the vendors. */
export function parseReasoning(body: Fields): ReasoningOptions | undefined {
  const { effort, budget, show } = parseSwitches(body)
  const said = defined<ReasoningOptions>({ effort: body.wish('reasoning_effort', EFFORTS) ?? effort, budget, show })
  return Object.keys(said).length > 0 ? said : undefined
}

function parseSwitches(body: Fields): { [K in keyof ReasoningOptions]: ReasoningOptions[K] | undefined } {
  const object = body.fields('reasoning') // OpenRouter
  const thinking = body.fields('thinking') // DeepSeek, Z.ai, Kimi, Anthropic's compatible door
  const template = body.fields('chat_template_kwargs') // vLLM
  const enabled = body.flag('enable_thinking') ?? template?.flag('enable_thinking') // Qwen
  const hidden =
    object?.flag('exclude') ?? (body.flag('include_reasoning') === false || body.any('reasoning_format') === 'hidden')
  const type = thinking?.text('type')
  const isOff = object?.flag('enabled') === false || type === 'disabled' || enabled === false
  const isOn = object?.flag('enabled') || type === 'enabled' || type === 'adaptive' || enabled
  const budget = object?.number('max_tokens') ?? thinking?.number('budget_tokens') ?? body.number('thinking_budget')
  const effort = object?.wish('effort', EFFORTS)
  for (const switches of [object, thinking, template]) switches?.drop()
  return {
    effort: effort ?? (isOff ? 'none' : undefined),
    budget: budget ?? (isOn && !isOff && effort === undefined ? 'auto' : undefined),
    show: hidden ? 'none' : undefined,
  }
}

/** What a provider is told, in the words of its vendor. */
export function wireReasoning({ effort, budget, show }: ReasoningOptions, { by }: ReasoningTraits): JsonObject {
  if (effort === undefined && budget === undefined && by !== 'reasoning-object') return {} // only whether to show them was said
  const isOn = effort !== 'none'
  const tokens = typeof budget === 'number' && isOn ? budget : undefined
  switch (by) {
    case 'none':
      return {}
    case 'thinking':
      return { thinking: { type: isOn ? 'enabled' : 'disabled' } }
    case 'thinking-effort':
      return { thinking: { type: isOn ? 'enabled' : 'disabled' }, ...(isOn && effort && { reasoning_effort: effort }) }
    case 'enable_thinking':
      return { enable_thinking: isOn, ...(tokens !== undefined && { thinking_budget: tokens }) }
    case 'reasoning-object':
      return { reasoning: { ...(effort ? { effort } : { enabled: true }), ...(show === 'none' && { exclude: true }) } }
    case 'chat-template':
      return { chat_template_kwargs: { enable_thinking: isOn } }
    default:
      return effort ? { reasoning_effort: effort } : {} // its own choice
  }
}
