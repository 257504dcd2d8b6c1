import { isObject, type JsonObject } from '../../../../lib/json.ts'
import type { Fields } from '../../canonical/canonical-fields.ts'
import type { AssistantPart, ReasoningPart } from '../../canonical/canonical-parts.ts'
import { type OpaqueState, type Origin, readSealedState, sealState } from '../../canonical/canonical-state.ts'
import { parseDetail } from '../chat-fields.ts'
import type { WireDetail } from '../chat-wire.ts'

/*
 * OpenAI's own format has no field for reasoning. Vendors put its text in `reasoning_content` or `reasoning`. OpenRouter has `reasoning_details`,
 * which clients send back unchanged. The gateway uses these details to pass other formats' opaque state through clients.
 */

const DETAIL_FORMAT = 'signalbox-v1'

/** The origin of state that the gateway didn't seal. */
export const UNKNOWN_ORIGIN: Origin = { format: 'openai-chat', account: '' }

/** The state of text-only reasoning. */
export const PLAIN_TEXT_STATE: OpaqueState = { origin: UNKNOWN_ORIGIN, kind: 'text', data: '' }

/** Writes reasoning for a client. `index` is its index among the turn's parts. Returns `undefined` if the reasoning has no state. */
export function writeDetail({ text, isSummary, state }: ReasoningPart, index: number): WireDetail | undefined {
  if (!state) return undefined
  const sealedState = sealState(state)
  const id = state.id === undefined ? {} : { id: state.id }
  if (text === '') return { type: 'reasoning.encrypted', data: sealedState, ...id, index, format: DETAIL_FORMAT }
  if (isSummary)
    return { type: 'reasoning.summary', summary: text, signature: sealedState, ...id, index, format: DETAIL_FORMAT }
  return { type: 'reasoning.text', text, signature: sealedState, ...id, index, format: DETAIL_FORMAT }
}

/**
 * Creates a function that returns the index that each of a turn's parts will have when a client sends the turn back. This way, reasoning can go back
 * between the same calls. All text counts as one part, at the index of its first piece.
 */
export function createPartIndexer(): (part: AssistantPart) => number {
  let nextIndex = 0
  let textIndex: number | undefined
  return (part) => {
    if (part.type === 'server-tool') return nextIndex // clients don't get these parts
    if (part.type !== 'text') return nextIndex++
    textIndex ??= nextIndex++
    return textIndex
  }
}

interface IndexedReasoning {
  part: ReasoningPart
  /** The index among the turn's parts, if known. */
  index: number | undefined
}

/** Parses the reasoning that a client sends back in a message. */
export function parseReasoning(message: Fields): IndexedReasoning[] {
  const details = (message.list('reasoning_details') ?? []).filter(isObject)
  const text = message.string('reasoning_content') ?? message.string('reasoning')
  message.ignore('reasoning')
  if (details.length === 0 && text)
    return [{ part: { type: 'reasoning', text, state: PLAIN_TEXT_STATE }, index: undefined }]
  return details.map((detail) => {
    const { signature, data, index } = detail
    const state = [signature, data]
      .map((field) => (typeof field === 'string' ? readSealedState(field) : undefined))
      .find(Boolean)
    if (!state) return { part: parseDetail(detail, UNKNOWN_ORIGIN), index: undefined }
    return { part: toReasoningPart(detail, state), index: typeof index === 'number' ? index : undefined }
  })
}

/** Inserts reasoning among a turn's other parts: at its index if known, otherwise at the beginning. */
export function insertReasoning(
  reasoning: readonly IndexedReasoning[],
  otherParts: readonly AssistantPart[],
): AssistantPart[] {
  const parts: AssistantPart[] = reasoning.flatMap(({ part, index }) => (index === undefined ? [part] : []))
  const remainingParts = [...otherParts]
  for (const { part, index } of reasoning) {
    if (index === undefined) continue
    while (parts.length < index && remainingParts.length > 0) parts.push(...remainingParts.splice(0, 1))
    parts.push(part)
  }
  return [...parts, ...remainingParts]
}

function toReasoningPart({ text, summary }: JsonObject, state: OpaqueState): ReasoningPart {
  if (typeof summary === 'string') return { type: 'reasoning', text: summary, isSummary: true, state }
  return { type: 'reasoning', text: typeof text === 'string' ? text : '', state }
}
