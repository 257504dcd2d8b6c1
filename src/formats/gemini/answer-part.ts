import { isObject, type JsonObject } from '../../lib/json.ts'
import { base64Source } from '../canonical/data-url.ts'
import { defined } from '../canonical/defined.ts'
import type { AssistantPart, ReasoningPart, TextPart } from '../canonical/parts.ts'
import type { OpaqueState } from '../canonical/state.ts'
import type { ReadContext } from '../translator.ts'
import { mediaPart } from './media-parse.ts'

/**
 * A part of an answer, unless it is a call or says nothing. A thought is the summary of one: Google shows no others. What its own tools ran
 * and found is only in the text.
 */
export function answerPart(part: JsonObject, { origin, losses }: ReadContext): AssistantPart | undefined {
  const { text, thought, thoughtSignature, functionCall, inlineData } = part
  if (functionCall !== undefined) return undefined
  const state: OpaqueState | undefined =
    typeof thoughtSignature === 'string' && thoughtSignature !== ''
      ? { origin, kind: 'thought-signature', data: thoughtSignature }
      : undefined
  const said = typeof text === 'string' ? text : ''
  if (thought === true && inlineData !== undefined) losses.dropped('inlineData') // a draft of a picture
  if (thought === true)
    return said || state ? defined<ReasoningPart>({ type: 'reasoning', text: said, isSummary: true, state }) : undefined
  if (isObject(inlineData)) {
    const media = answerMedia(inlineData, state)
    if (!media) losses.dropped('inlineData')
    return media
  }
  const other = Object.keys(part).find((name) => !NOTES.has(name))
  if (other !== undefined) losses.dropped(other)
  return said || (state && !other) ? defined<TextPart>({ type: 'text', text: said, state }) : undefined
}

const NOTES: ReadonlySet<string> = new Set(['text', 'thought', 'thoughtSignature', 'partMetadata'])

function answerMedia({ mimeType, data }: JsonObject, state: OpaqueState | undefined): AssistantPart | undefined {
  if (typeof mimeType !== 'string' || typeof data !== 'string') return undefined
  const media = mediaPart(base64Source(mimeType, data))
  if (media.type === 'image') return state ? { ...media, state } : media
  return media.type === 'audio' ? media : undefined
}
