import { isObject, type JsonObject } from '../../../lib/json.ts'
import type { ReasoningPart } from '../canonical/canonical-parts.ts'
import { type OpaqueState, type Origin, sealState, UNSIGNED_PREFIX, unsealState } from '../canonical/canonical-state.ts'
import type { WireReasoning, WireReasoningInput } from './responses-wire.ts'

/*
 * A reasoning item contains summaries, or the reasoning text if the provider shows it, and encrypted reasoning, which is bound to the item's ID.
 * Providers that don't encrypt accept the text back (state of kind `text`).
 */

/** Separates one item's summaries. */
export const SUMMARY_SEPARATOR = '\n\n'

/** Returns an item's summaries, or the reasoning text if that must go back to the provider. */
function getReadableText({ summary, content }: JsonObject, state: OpaqueState | undefined) {
  const summaries = getTexts(summary).join(SUMMARY_SEPARATOR)
  const text = getTexts(content).join(SUMMARY_SEPARATOR)
  const isSummary = summaries !== '' && (text === '' || state?.kind !== 'text')
  return { text: isSummary ? summaries : text, isSummary }
}

function getTexts(parts: unknown): string[] {
  if (!Array.isArray(parts)) return []
  return parts.flatMap((part: unknown) =>
    isObject(part) && typeof part.text === 'string' && part.text ? [part.text] : [],
  )
}

/** Reads the state in a provider's item. An item with only summaries has none, because providers don't need them back. */
export function readReasoningState(item: JsonObject, origin: Origin): OpaqueState | undefined {
  const { encrypted_content: data, id, content } = item
  if (typeof data === 'string' && data !== '' && data !== UNSIGNED_PREFIX)
    return { origin, kind: 'encrypted', data, ...(typeof id === 'string' && id !== '' && { id }) }
  return getTexts(content).length > 0 ? { origin, kind: 'text', data: '' } : undefined
}

/** Parses a provider's item. Returns `undefined` if it has neither text nor state. */
export function parseReasoningItem(item: JsonObject, origin: Origin): ReasoningPart | undefined {
  return createReasoningPart(item, readReasoningState(item, origin))
}

/** Parses an item that a client sends back: the gateway's own, with state from any format, or OpenAI's. */
export function parseReasoningInput(item: JsonObject): ReasoningPart | undefined {
  const { encrypted_content: data, id } = item
  if (typeof data !== 'string' || data === '' || data === UNSIGNED_PREFIX)
    return createReasoningPart(item, readReasoningState(item, UNKNOWN_ORIGIN))
  const defaults = { format: 'openai-responses', kind: 'encrypted' } as const
  const part = createReasoningPart(item, unsealState(data, typeof id === 'string' ? { ...defaults, id } : defaults))
  if (part?.state && part.state.origin.format !== 'openai-responses') delete part.isSummary // the gateway wrote this text as a summary
  return part
}

const UNKNOWN_ORIGIN: Origin = { format: 'openai-responses', account: '' }

function createReasoningPart(item: JsonObject, state: OpaqueState | undefined): ReasoningPart | undefined {
  const { text, isSummary } = getReadableText(item, state)
  if (text === '' && !state) return undefined
  const part: ReasoningPart = { type: 'reasoning', text }
  if (isSummary) part.isSummary = true
  if (state) part.state = state
  return part
}

/** Writes reasoning that goes back to its provider. */
export function writeReasoningInput({ text, state }: ReasoningPart): WireReasoningInput {
  const itemId = state?.id === undefined ? {} : { id: state.id }
  if (state?.kind === 'text')
    return { type: 'reasoning', ...itemId, summary: [], content: [{ type: 'reasoning_text', text }] }
  const summary = writeSummary(text)
  return state
    ? { type: 'reasoning', ...itemId, summary, encrypted_content: state.data }
    : { type: 'reasoning', summary }
}

/** Writes reasoning for a client. The client shows the summary and sends the encrypted content back. */
export function writeReasoning(id: string, text: string, state: OpaqueState | undefined): WireReasoning {
  const summary = writeSummary(text)
  if (!state && text === '') return { type: 'reasoning', id, summary }
  return { type: 'reasoning', id, summary, encrypted_content: state ? sealState(state) : UNSIGNED_PREFIX }
}

const writeSummary = (text: string): WireReasoning['summary'] => (text === '' ? [] : [{ type: 'summary_text', text }])
