import { EFFORTS } from '../canonical/base-traits.ts'
import { defined } from '../canonical/defined.ts'
import type { Fields } from '../canonical/fields.ts'
import type { ReasoningOptions } from '../canonical/request.ts'
import type { Warnings } from '../canonical/warnings.ts'

/** How a client asks for thoughts: `thinking`, and the effort in `output_config`. */
export function parseReasoning(body: Fields, warnings: Warnings): ReasoningOptions | undefined {
  const effort = body.fields('output_config')?.wish('effort', EFFORTS)
  const thinking = body.fields('thinking')
  if (!thinking) return effort && { effort }
  const type = thinking.word('type', ['enabled', 'disabled', 'adaptive', 'between_tools'])
  const display = thinking.wish('display', ['summarized', 'omitted'])
  const show = display && (display === 'omitted' ? 'none' : 'summary')
  const budget = thinking.number('budget_tokens')
  thinking.drop()
  switch (type) {
    case undefined:
      return warnings.refuse('thinking.type', 'is required.')
    case 'disabled':
      if (effort) warnings.dropped('output_config.effort')
      return { effort: 'none' }
    case 'enabled':
      if (budget === undefined) return warnings.refuse('thinking.budget_tokens', 'is required.')
      return defined<ReasoningOptions>({ effort, budget, show })
    case 'between_tools':
      warnings.changed('thinking.type', 'replaced')
      return defined<ReasoningOptions>({ effort, budget: 'auto', show })
    case 'adaptive':
      return defined<ReasoningOptions>({ effort, budget: 'auto', show })
  }
}
