import { isObject, type JsonObject } from '../../lib/json.ts'
import type { ReasoningPart } from '../canonical/parts.ts'
import { type OpaqueState, type Origin, sealState, UNSIGNED, unsealState } from '../canonical/state.ts'
import type { WireThought, WireThoughtInput } from './wire.ts'

/*
 * A reasoning item is one thought: summaries, or the thoughts themselves where the provider shows them, and their encrypted form, which is
 * bound to the id of the item. Providers that do not encrypt want the thoughts themselves back: state of the kind `text`.
 */

/** Between the summaries of one item. */
export const JOINT = '\n\n'

/** What an item says: its summaries, unless the thoughts themselves are what has to return. */
function readableThoughts({ summary, content }: JsonObject, state: OpaqueState | undefined) {
  const summaries = textsIn(summary).join(JOINT)
  const thoughts = textsIn(content).join(JOINT)
  const isSummary = summaries !== '' && (thoughts === '' || state?.kind !== 'text')
  return { text: isSummary ? summaries : thoughts, isSummary }
}

function textsIn(parts: unknown): string[] {
  if (!Array.isArray(parts)) return []
  return parts.flatMap((part: unknown) =>
    isObject(part) && typeof part.text === 'string' && part.text ? [part.text] : [],
  )
}

/** State of a provider's item. Thoughts that came as summaries only have none: nobody could use them. */
export function thoughtState(item: JsonObject, origin: Origin): OpaqueState | undefined {
  const { encrypted_content: data, id, content } = item
  if (typeof data === 'string' && data !== '' && data !== UNSIGNED)
    return { origin, kind: 'encrypted', data, ...(typeof id === 'string' && id !== '' && { id }) }
  return textsIn(content).length > 0 ? { origin, kind: 'text', data: '' } : undefined
}

/** A provider's item; undefined when it says nothing. */
export function parseThought(item: JsonObject, origin: Origin): ReasoningPart | undefined {
  return thoughtPart(item, thoughtState(item, origin))
}

/** An item that a client gives back: ours with the state of whoever thought it, or its own. */
export function parseThoughtInput(item: JsonObject): ReasoningPart | undefined {
  const { encrypted_content: data, id } = item
  if (typeof data !== 'string' || data === '' || data === UNSIGNED)
    return thoughtPart(item, thoughtState(item, UNKNOWN))
  const bare = { format: 'openai-responses', kind: 'encrypted' } as const
  const part = thoughtPart(item, unsealState(data, typeof id === 'string' ? { ...bare, id } : bare))
  if (part?.state && part.state.origin.format !== 'openai-responses') delete part.isSummary // our own way to show it
  return part
}

const UNKNOWN: Origin = { format: 'openai-responses', account: '' }

function thoughtPart(item: JsonObject, state: OpaqueState | undefined): ReasoningPart | undefined {
  const { text, isSummary } = readableThoughts(item, state)
  if (text === '' && !state) return undefined
  const part: ReasoningPart = { type: 'reasoning', text }
  if (isSummary) part.isSummary = true
  if (state) part.state = state
  return part
}

/** A thought that returns to its provider. */
export function writeThoughtInput({ text, state }: ReasoningPart): WireThoughtInput {
  const bound = state?.id === undefined ? {} : { id: state.id }
  if (state?.kind === 'text')
    return { type: 'reasoning', ...bound, summary: [], content: [{ type: 'reasoning_text', text }] }
  const summary = summariesOf(text)
  return state
    ? { type: 'reasoning', ...bound, summary, encrypted_content: state.data }
    : { type: 'reasoning', summary }
}

/** A thought for a client, who shows summaries and echoes what is encrypted. */
export function wireThought(id: string, text: string, state: OpaqueState | undefined): WireThought {
  const summary = summariesOf(text)
  if (!state && text === '') return { type: 'reasoning', id, summary }
  return { type: 'reasoning', id, summary, encrypted_content: state ? sealState(state) : UNSIGNED }
}

const summariesOf = (text: string): WireThought['summary'] => (text === '' ? [] : [{ type: 'summary_text', text }])
