import type { Traits } from '../../../traits.ts'
import type { ReasoningOptions, RequestOptions } from '../request.ts'
import type { Tool, ToolChoice } from '../tools.ts'
import type { Warnings } from '../warnings.ts'
import { prepareReasoning } from './reasoning.ts'

interface Asked {
  /** Changed in place. */
  options: RequestOptions
  tools: readonly Tool[]
  toolChoice: ToolChoice | undefined
}

interface Target {
  traits: Traits
  warnings: Warnings
}

/**
 * Effort and budget that agree, and the choice of tools that goes with them. Where the target cannot both think and call, a call that is
 * forced counts for more than an effort and less than a budget; options that it has no ear for while it thinks are dropped.
 */
export function settleThinking({ options, tools, toolChoice }: Asked, target: Target): ToolChoice | undefined {
  const { traits, warnings } = target
  const { refusesForcedTool, refusesTools } = traits.reasoning
  const asked = options.reasoning
  if (asked) {
    delete options.reasoning
    const limit = options.maxOutputTokens ?? traits.maxOutputTokens
    const reasoning = prepareReasoning(asked, { traits, warnings, maxOutputTokens: limit })
    if (reasoning) options.reasoning = reasoning
  }

  let choice = toolChoice
  const isForced = choice?.type === 'required' || choice?.type === 'tool'
  const isInTheWay = (refusesForcedTool && isForced) || (refusesTools && tools.some(isOfClient))
  if (isInTheWay && thinks(options.reasoning, traits)) {
    if (refusesTools || asked?.budget === undefined) stopThinking(options, target)
    else {
      warnings.changed('toolChoice', 'replaced')
      choice = { type: 'auto' }
    }
  }
  if (thinks(options.reasoning, traits)) dropExcluded(options, target)
  return choice
}

const isOfClient = ({ type }: Tool) => type !== 'web-search'

function thinks(reasoning: ReasoningOptions | undefined, { reasoning: { isDefault } }: Traits): boolean {
  const { effort, budget } = reasoning ?? {}
  return effort === undefined && budget === undefined ? isDefault : effort !== 'none'
}

/** Said only to a target that can be told, and has to be. */
function stopThinking(options: RequestOptions, { traits, warnings }: Target) {
  const { efforts, isDefault } = traits.reasoning
  if (options.reasoning) warnings.dropped('reasoning')
  else warnings.changed('reasoning', 'added')
  delete options.reasoning
  if (isDefault && efforts.includes('none')) options.reasoning = { effort: 'none', budget: 0 }
}

function dropExcluded(options: RequestOptions, { traits, warnings }: Target) {
  for (const name of traits.reasoning.excludes) {
    if (options[name] === undefined) continue
    warnings.dropped(name)
    delete options[name]
  }
}
