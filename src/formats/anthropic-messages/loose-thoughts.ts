import type { TargetContext } from '../translator.ts'
import type { WireMessageParam, WireRequest } from './wire-request.ts'

/** The beta under which a request may say what becomes of thoughts that no longer fit. */
export const LOOSE_THOUGHTS = 'thinking-binding-controls-2026-08-01'

/**
 * Newer models bind each thought to all that stood before it, and refuse a conversation that was shortened or edited since. Clients of other
 * formats know nothing of that, so the thoughts that no longer fit are to be left out instead.
 */
export function withLooseThoughts(body: WireRequest, { traits }: TargetContext): WireRequest {
  const { thinking = { type: 'adaptive' }, messages } = body // what they do unasked
  if (!traits.reasoning.bindsThoughts || thinking.type !== 'adaptive' || !messages.some(hasThoughts)) return body
  return { ...body, thinking: { ...thinking, block_binding: { prefix_mismatch_behavior: 'drop_block' } } }
}

const hasThoughts = ({ content }: WireMessageParam): boolean =>
  content.some(({ type }) => type === 'thinking' || type === 'redacted_thinking')
