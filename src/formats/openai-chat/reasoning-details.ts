import { isObject, type JsonObject, tryParseShallow } from '../../lib/json.ts'
import type { Fields } from '../canonical/fields.ts'
import type { AssistantPart, ReasoningPart } from '../canonical/parts.ts'
import { type OpaqueState, type Origin, readSealed, sealState } from '../canonical/state.ts'
import type { WireDetail } from './wire.ts'

/*
 * Thoughts have no place in OpenAI's own format. Vendors give their text as `reasoning_content` or `reasoning`; OpenRouter gives
 * `reasoning_details`, which clients know to echo. That is what carries the state of other formats through a client of this one.
 */

const FORMAT = 'signalbox-v1'

/** Given by a client, who does not say where it had it from. */
const UNKNOWN: Origin = { format: 'openai-chat', account: '' }

/** A thought for a client. `index` is its place among the parts of the turn. */
export function wireDetail({ text, isSummary, state }: ReasoningPart, index: number): WireDetail | undefined {
  if (!state) return undefined
  const sealed = sealState(state)
  const id = state.id === undefined ? {} : { id: state.id }
  if (text === '') return { type: 'reasoning.encrypted', data: sealed, ...id, index, format: FORMAT }
  if (isSummary) return { type: 'reasoning.summary', summary: text, signature: sealed, ...id, index, format: FORMAT }
  return { type: 'reasoning.text', text, signature: sealed, ...id, index, format: FORMAT }
}

/**
 * Counts the places of parts as a client will give them back: all text is one, where it began; so that a thought returns to between the calls
 * that it stood between.
 */
export function createPlaces(): (part: AssistantPart) => number {
  let next = 0
  let textPlace: number | undefined
  return (part) => {
    if (part.type === 'server-tool') return next // is not told of here
    if (part.type !== 'text') return next++
    textPlace ??= next++
    return textPlace
  }
}

/** The thoughts of a message that a client gives back, and their places among the parts of the turn. */
export function parseThoughts(message: Fields): { thoughts: ReasoningPart[]; places: (number | undefined)[] } {
  const details = message.list('reasoning_details') ?? []
  const text = message.text('reasoning_content') ?? message.text('reasoning')
  message.ignore('reasoning')
  const thoughts: ReasoningPart[] = []
  const places: (number | undefined)[] = []
  for (const detail of details) {
    if (!isObject(detail)) continue
    const { signature, data, index } = detail
    const state = [signature, data]
      .map((field) => (typeof field === 'string' ? readSealed(field) : undefined))
      .find(Boolean)
    thoughts.push(state ? thoughtOf(detail, state) : parseDetail(detail, UNKNOWN))
    places.push(state && typeof index === 'number' ? index : undefined)
  }
  if (thoughts.length === 0 && text) {
    thoughts.push({
      type: 'reasoning',
      text,
      state: { origin: { format: 'openai-chat', account: '' }, kind: 'text', data: '' },
    })
    places.push(undefined)
  }
  return { thoughts, places }
}

/** Thoughts stand first unless it is known where they stood. */
export function placeThoughts(
  thoughts: readonly ReasoningPart[],
  places: readonly (number | undefined)[],
  said: readonly AssistantPart[],
): AssistantPart[] {
  const parts: AssistantPart[] = thoughts.filter((_, index) => places[index] === undefined)
  const rest = [...said]
  thoughts.forEach((thought, index) => {
    const place = places[index]
    if (place === undefined) return
    while (parts.length < place && rest.length > 0) parts.push(...rest.splice(0, 1))
    parts.push(thought)
  })
  return [...parts, ...rest]
}

/** An entry of a provider's own `reasoning_details`: kept whole, so that it can return as it was. */
export function parseDetail(detail: JsonObject, origin: Origin): ReasoningPart {
  const { text, summary, ...rest } = detail
  const isSummary = typeof summary === 'string'
  const state: OpaqueState = { origin, kind: 'detail', data: JSON.stringify(rest) }
  const part: ReasoningPart = {
    type: 'reasoning',
    text: isSummary ? summary : typeof text === 'string' ? text : '',
    state,
  }
  if (isSummary) part.isSummary = true
  return part
}

/** The reverse of `parseDetail`, for the provider. Its type says which field it has: not every client tells a summary from a thought. */
export function detailOf({ text, isSummary, state }: ReasoningPart): JsonObject | undefined {
  if (state?.kind !== 'detail') return undefined
  const rest = tryParseShallow(state.data)
  if (!isObject(rest)) return undefined
  if (text === '') return rest
  const hasSummary = rest.type === 'reasoning.summary' || (isSummary && rest.type !== 'reasoning.text')
  return { ...rest, [hasSummary ? 'summary' : 'text']: text }
}

function thoughtOf({ text, summary }: JsonObject, state: OpaqueState): ReasoningPart {
  if (typeof summary === 'string') return { type: 'reasoning', text: summary, isSummary: true, state }
  return { type: 'reasoning', text: typeof text === 'string' ? text : '', state }
}
