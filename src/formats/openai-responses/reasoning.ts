import { isObject, type JsonObject } from '../../lib/json.ts'
import type { ReasoningPart } from '../canonical/parts.ts'
import { type OpaqueState, type Origin, sealState, UNSIGNED, unsealState } from '../canonical/state.ts'
import type { WireReasoning, WireReasoningInput } from './wire.ts'

/*
 * A reasoning item holds summaries, or the reasoning text itself if the provider shows it, and the encrypted reasoning, which is bound to the id
 * of the item. Providers that do not encrypt accept the text itself back: state of the kind `text`.
 */

/** What separates the summaries of one item. */
export const SUMMARY_SEPARATOR = '\n\n'

/** The readable text of an item: its summaries, unless the reasoning text is what has to return to the provider. */
function readableText({ summary, content }: JsonObject, state: OpaqueState | undefined) {
  const summaries = textsIn(summary).join(SUMMARY_SEPARATOR)
  const text = textsIn(content).join(SUMMARY_SEPARATOR)
  const isSummary = summaries !== '' && (text === '' || state?.kind !== 'text')
  return { text: isSummary ? summaries : text, isSummary }
}

function textsIn(parts: unknown): string[] {
  if (!Array.isArray(parts)) return []
  return parts.flatMap((part: unknown) =>
    isObject(part) && typeof part.text === 'string' && part.text ? [part.text] : [],
  )
}

/** The state in a provider's item; an item of summaries alone has none, since a provider has no use for them. */
export function reasoningState(item: JsonObject, origin: Origin): OpaqueState | undefined {
  const { encrypted_content: data, id, content } = item
  if (typeof data === 'string' && data !== '' && data !== UNSIGNED)
    return { origin, kind: 'encrypted', data, ...(typeof id === 'string' && id !== '' && { id }) }
  return textsIn(content).length > 0 ? { origin, kind: 'text', data: '' } : undefined
}

/** Parses a provider's item; `undefined` if it holds neither text nor state. */
export function parseReasoningItem(item: JsonObject, origin: Origin): ReasoningPart | undefined {
  return reasoningPart(item, reasoningState(item, origin))
}

/** Parses an item that a client sends back: the gateway's own, with the state of any format, or one of OpenAI. */
export function parseReasoningInput(item: JsonObject): ReasoningPart | undefined {
  const { encrypted_content: data, id } = item
  if (typeof data !== 'string' || data === '' || data === UNSIGNED)
    return reasoningPart(item, reasoningState(item, UNKNOWN_ORIGIN))
  const bare = { format: 'openai-responses', kind: 'encrypted' } as const
  const part = reasoningPart(item, unsealState(data, typeof id === 'string' ? { ...bare, id } : bare))
  if (part?.state && part.state.origin.format !== 'openai-responses') delete part.isSummary // the gateway has written it as one
  return part
}

const UNKNOWN_ORIGIN: Origin = { format: 'openai-responses', account: '' }

function reasoningPart(item: JsonObject, state: OpaqueState | undefined): ReasoningPart | undefined {
  const { text, isSummary } = readableText(item, state)
  if (text === '' && !state) return undefined
  const part: ReasoningPart = { type: 'reasoning', text }
  if (isSummary) part.isSummary = true
  if (state) part.state = state
  return part
}

/** Writes reasoning that returns to its provider. */
export function writeReasoningInput({ text, state }: ReasoningPart): WireReasoningInput {
  const bound = state?.id === undefined ? {} : { id: state.id }
  if (state?.kind === 'text')
    return { type: 'reasoning', ...bound, summary: [], content: [{ type: 'reasoning_text', text }] }
  const summary = summariesOf(text)
  return state
    ? { type: 'reasoning', ...bound, summary, encrypted_content: state.data }
    : { type: 'reasoning', summary }
}

/** Writes reasoning for a client, which shows the summary and sends the encrypted content back. */
export function wireReasoning(id: string, text: string, state: OpaqueState | undefined): WireReasoning {
  const summary = summariesOf(text)
  if (!state && text === '') return { type: 'reasoning', id, summary }
  return { type: 'reasoning', id, summary, encrypted_content: state ? sealState(state) : UNSIGNED }
}

const summariesOf = (text: string): WireReasoning['summary'] => (text === '' ? [] : [{ type: 'summary_text', text }])
