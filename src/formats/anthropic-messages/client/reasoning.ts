import { assertNever } from '../../../lib/assert-never.ts'
import { EFFORTS } from '../../canonical/base-traits.ts'
import type { Fields } from '../../canonical/fields.ts'
import type { ReasoningPart } from '../../canonical/parts.ts'
import type { ReasoningOptions } from '../../canonical/request.ts'
import { type OpaqueState, sealState, UNSIGNED, unsealState } from '../../canonical/state.ts'
import { defined } from '../../canonical/values.ts'
import type { Warnings } from '../../canonical/warnings.ts'
import type { WireRedacted, WireThinking } from '../wire.ts'

/** Parses what a client asks of the model's reasoning: `thinking`, and the effort in `output_config`. */
export function parseReasoning(body: Fields, warnings: Warnings): ReasoningOptions | undefined {
  const effort = body.fields('output_config')?.wordOrDrop('effort', EFFORTS)
  const thinking = body.fields('thinking')
  if (!thinking) return effort && { effort }
  const type = thinking.word('type', ['enabled', 'disabled', 'adaptive', 'between_tools'])
  const display = thinking.wordOrDrop('display', ['summarized', 'omitted'])
  const show = display && (display === 'omitted' ? 'none' : 'summary')
  const budget = thinking.number('budget_tokens')
  thinking.drop()
  switch (type) {
    case undefined:
      return warnings.refuse('thinking.type', 'is required.')
    case 'disabled':
      if (effort) warnings.noteDropped('output_config.effort')
      return { effort: 'none' }
    case 'enabled':
      if (budget === undefined) return warnings.refuse('thinking.budget_tokens', 'is required.')
      return defined<ReasoningOptions>({ effort, budget, show })
    case 'between_tools':
      warnings.noteChanged('thinking.type', 'replaced')
      return defined<ReasoningOptions>({ effort, budget: 'auto', show })
    case 'adaptive':
      return defined<ReasoningOptions>({ effort, budget: 'auto', show })
    default:
      return assertNever(type)
  }
}

/*
 * Reasoning of any vendor is written into the two kinds of blocks that clients of this format return. State of another vendor is sealed into
 * the field of Anthropic's signature.
 */

/** Writes reasoning for a client; without text and state there is no block. `isHidden`: the client wants the signature without the text. */
export function wireReasoning(
  { text, state }: ReasoningPart,
  isHidden: boolean,
): WireThinking | WireRedacted | undefined {
  if (state?.kind === 'redacted' && text === '') return { type: 'redacted_thinking', data: sealState(state) }
  const thinking = isHidden ? '' : text
  if (!state) return thinking === '' ? undefined : { type: 'thinking', thinking, signature: UNSIGNED }
  const signature = wireSignature(state, isHidden ? text : '')
  return thinking === '' && signature === '' ? undefined : { type: 'thinking', thinking, signature }
}

/** The signature of a block. When reasoning is hidden from the client but must be sent back as text, the signature contains the text. */
export const wireSignature = (state: OpaqueState, hidden: string): string =>
  sealState(state.kind === 'text' ? { ...state, data: hidden } : state)

/** Parses a thinking block that a client returns. */
export function parseThinking(thinking: string, signature: string): ReasoningPart | undefined {
  if (signature === '' || signature === UNSIGNED)
    return thinking === '' ? undefined : { type: 'reasoning', text: thinking }
  const state = unsealState(signature, { format: 'anthropic-messages', kind: 'signature' })
  if (state.kind !== 'text') return { type: 'reasoning', text: thinking, state }
  return { type: 'reasoning', text: thinking || state.data, state: { ...state, data: '' } }
}

/** Parses a block of encrypted reasoning that a client returns. */
export const parseRedacted = (data: string): ReasoningPart => ({
  type: 'reasoning',
  text: '',
  state: unsealState(data, { format: 'anthropic-messages', kind: 'redacted' }),
})
