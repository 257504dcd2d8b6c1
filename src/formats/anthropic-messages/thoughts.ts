import type { ReasoningPart } from '../canonical/parts.ts'
import { type OpaqueState, sealState, UNSIGNED, unsealState } from '../canonical/state.ts'
import type { WireRedacted, WireThinking } from './wire.ts'

/*
 * Thoughts of any vendor in the two blocks that clients of this format echo. What only their maker understands stands sealed where
 * Anthropic has its signature.
 */

/** A thought for a client; one that says nothing and proves nothing has no block. `isHidden`: the client wants the proof without the text. */
export function wireThought(
  { text, state }: ReasoningPart,
  isHidden: boolean,
): WireThinking | WireRedacted | undefined {
  if (state?.kind === 'redacted' && text === '') return { type: 'redacted_thinking', data: sealState(state) }
  const thinking = isHidden ? '' : text
  if (!state) return thinking === '' ? undefined : { type: 'thinking', thinking, signature: UNSIGNED }
  const signature = wireSignature(state, isHidden ? text : '')
  return thinking === '' && signature === '' ? undefined : { type: 'thinking', thinking, signature }
}

/** The signature of a thought. Thoughts that go back as text are in it when the client is not shown them. */
export const wireSignature = (state: OpaqueState, hidden: string): string =>
  sealState(state.kind === 'text' ? { ...state, data: hidden } : state)

/** A thinking block that a client gives back. */
export function parseThinking(thinking: string, signature: string): ReasoningPart | undefined {
  if (signature === '' || signature === UNSIGNED)
    return thinking === '' ? undefined : { type: 'reasoning', text: thinking }
  const state = unsealState(signature, { format: 'anthropic-messages', kind: 'signature' })
  if (state.kind !== 'text') return { type: 'reasoning', text: thinking, state }
  return { type: 'reasoning', text: thinking || state.data, state: { ...state, data: '' } }
}

/** A block of thoughts that nobody may read, as a client gives it back. */
export const parseRedacted = (data: string): ReasoningPart => ({
  type: 'reasoning',
  text: '',
  state: unsealState(data, { format: 'anthropic-messages', kind: 'redacted' }),
})
