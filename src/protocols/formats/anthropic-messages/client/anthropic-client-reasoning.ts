import { assertNever } from '../../../../lib/assert-never.ts'
import { ALL_EFFORTS } from '../../canonical/base-traits.ts'
import type { Fields } from '../../canonical/canonical-fields.ts'
import type { ReasoningPart } from '../../canonical/canonical-parts.ts'
import type { ReasoningOptions } from '../../canonical/canonical-request.ts'
import { type OpaqueState, sealState, UNSIGNED_PREFIX, unsealState } from '../../canonical/canonical-state.ts'
import { omitUndefined } from '../../canonical/canonical-values.ts'
import type { Warnings } from '../../canonical/canonical-warnings.ts'
import type { WireRedacted, WireThinking } from '../anthropic-wire.ts'

/** Parses the reasoning options: `thinking`, and the effort in `output_config`. */
export function parseReasoning(body: Fields, warnings: Warnings): ReasoningOptions | undefined {
  const effort = body.fields('output_config')?.oneOfOrDrop('effort', ALL_EFFORTS)
  const thinking = body.fields('thinking')
  if (!thinking) return effort && { effort }
  const type = thinking.oneOf('type', ['enabled', 'disabled', 'adaptive', 'between_tools'])
  const display = thinking.oneOfOrDrop('display', ['summarized', 'omitted'])
  const show = display && (display === 'omitted' ? 'none' : 'summary')
  const budget = thinking.number('budget_tokens')
  thinking.dropUnread()
  switch (type) {
    case undefined:
      return warnings.reject('thinking.type', 'is required.')
    case 'disabled':
      if (effort) warnings.recordDrop('output_config.effort')
      return { effort: 'none' }
    case 'enabled':
      if (budget === undefined) return warnings.reject('thinking.budget_tokens', 'is required.')
      return omitUndefined<ReasoningOptions>({ effort, budget, show })
    case 'between_tools':
      warnings.recordChange('thinking.type', 'replaced')
      return omitUndefined<ReasoningOptions>({ effort, budget: 'auto', show })
    case 'adaptive':
      return omitUndefined<ReasoningOptions>({ effort, budget: 'auto', show })
    default:
      return assertNever(type)
  }
}

/*
 * Clients of this format send back two kinds of reasoning blocks, so the gateway uses these for reasoning from all vendors. It seals other vendors'
 * state into the field for Anthropic's signature.
 */

/** Writes reasoning for a client. Returns `undefined` if there is neither text nor state. `isHidden` writes the signature without the text. */
export function writeReasoning(
  { text, state }: ReasoningPart,
  isHidden: boolean,
): WireThinking | WireRedacted | undefined {
  if (state?.kind === 'redacted' && text === '') return { type: 'redacted_thinking', data: sealState(state) }
  const thinking = isHidden ? '' : text
  if (!state) return thinking === '' ? undefined : { type: 'thinking', thinking, signature: UNSIGNED_PREFIX }
  const signature = writeSignature(state, isHidden ? text : '')
  return thinking === '' && signature === '' ? undefined : { type: 'thinking', thinking, signature }
}

/** Writes a block's signature. It contains the text if the client hides reasoning that must go back to the provider as text. */
export const writeSignature = (state: OpaqueState, hiddenText: string): string =>
  sealState(state.kind === 'text' ? { ...state, data: hiddenText } : state)

/** Parses a thinking block that a client sends back. */
export function parseThinking(thinking: string, signature: string): ReasoningPart | undefined {
  if (signature === '' || signature === UNSIGNED_PREFIX)
    return thinking === '' ? undefined : { type: 'reasoning', text: thinking }
  const state = unsealState(signature, { format: 'anthropic-messages', kind: 'signature' })
  if (state.kind !== 'text') return { type: 'reasoning', text: thinking, state }
  return { type: 'reasoning', text: thinking || state.data, state: { ...state, data: '' } }
}

/** Parses a block of encrypted reasoning that a client sends back. */
export const parseRedacted = (data: string): ReasoningPart => ({
  type: 'reasoning',
  text: '',
  state: unsealState(data, { format: 'anthropic-messages', kind: 'redacted' }),
})
