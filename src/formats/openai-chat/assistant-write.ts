import type { JsonObject } from '../../lib/json.ts'
import { defined } from '../canonical/defined.ts'
import type { AssistantPart, ImagePart, ReasoningPart, ToolCallPart } from '../canonical/parts.ts'
import type { AssistantTurn } from '../canonical/turns.ts'
import type { Warnings } from '../canonical/warnings.ts'
import type { TargetContext } from '../translator.ts'
import { urlOf } from './parts-write.ts'
import { detailOf } from './reasoning-details.ts'
import type { WireAssistantMessage, WireImage, WireToolCall } from './wire.ts'

/** What the model said before, for a provider. Without text its content is null: strict ones refuse an empty string. */
export function writeAssistant({ content, name }: AssistantTurn, target: TargetContext): WireAssistantMessage {
  const text = textOf(inParagraphs(content), 'text')
  const calls = content.filter((part) => part.type === 'tool-call')
  const thoughts = content.filter((part) => part.type === 'reasoning')
  const audio = content.find((part) => part.type === 'audio')
  const images = content.flatMap((part) => (part.type === 'image' ? [writeImage(part, target)] : []))
  tellLost(content, target.warnings)
  return defined<WireAssistantMessage>({
    role: 'assistant',
    content: withThoughts(text, thoughts, target),
    refusal: textOf(content, 'refusal') || undefined,
    name,
    audio: audio?.id === undefined ? undefined : { id: audio.id },
    ...writeThoughts(thoughts, target),
    images: images.length > 0 ? images : undefined,
    tool_calls: calls.length > 0 ? calls.map(writeCall) : undefined,
  })
}

/** Only for a vendor that has a place for it; to others a user has shown it. */
const writeImage = (part: ImagePart, target: TargetContext): WireImage => ({
  type: 'image_url',
  image_url: { url: urlOf(part, target) },
})

/** Sound that cannot be named, and marks of caching: what it has said is a string here. */
function tellLost(content: readonly AssistantPart[], warnings: Warnings) {
  for (const part of content) {
    if (part.type === 'audio' && part.id === undefined) warnings.dropped(warnings.pathOf(part, 'turns'))
    if ('cache' in part && part.cache) warnings.dropped(warnings.pathOf(part.cache, 'cache'))
  }
}

export function writeCall({ id, name, isFreeForm, state, ...call }: ToolCallPart): WireToolCall {
  if (isFreeForm) return { id, type: 'custom', custom: { name, input: call.arguments } }
  const written: WireToolCall = { id, type: 'function', function: { name, arguments: call.arguments || '{}' } }
  if (state?.kind === 'thought-signature') written.extra_content = { google: { thought_signature: state.data } }
  return written
}

/** All text of one kind: the parts of a turn continue each other. */
export const textOf = (content: readonly AssistantPart[], type: 'text' | 'refusal'): string =>
  content.map((part) => (part.type === type ? part.text : '')).join('')

/**
 * The parts, with a blank line between texts that a call stood between: the format has one place for all text of a turn. White space that
 * parts them already is enough.
 */
function inParagraphs(content: readonly AssistantPart[]): readonly AssistantPart[] {
  let last: string | undefined // of the texts so far
  let isApart = false
  return content.map((part) => {
    if (part.type === 'tool-call') isApart = last !== undefined
    if (part.type !== 'text' || part.text === '') return part
    const isGlued = isApart && last !== undefined && !/\s$/.test(last) && !/^\s/.test(part.text)
    last = part.text
    isApart = false
    return isGlued ? { ...part, text: `\n\n${part.text}` } : part
  })
}

/** Its own thoughts, for a vendor that wants to see them again, in the field where it reads them. */
function writeThoughts(thoughts: readonly ReasoningPart[], { traits }: TargetContext) {
  const details = thoughts.flatMap((thought): JsonObject[] => {
    const detail = detailOf(thought)
    return detail ? [detail] : []
  })
  const text = thoughts.map((thought) => (thought.state?.kind === 'text' ? thought.text : '')).join('')
  const { field, needsField } = traits.reasoning
  return {
    reasoning_details: details.length > 0 ? details : undefined,
    reasoning_content: (text !== '' || needsField) && field === 'reasoning_content' ? text : undefined,
    reasoning: text !== '' && (field === 'reasoning' || field === 'reasoning_details') ? text : undefined,
  }
}

/** Mistral's thoughts are parts of the content. */
function withThoughts(text: string, thoughts: readonly ReasoningPart[], { traits }: TargetContext) {
  const thought = thoughts.map((part) => part.text).join('')
  if (traits.reasoning.field !== 'thinking-parts' || thought === '') return text === '' ? null : text
  const thinking = { type: 'thinking' as const, thinking: [{ type: 'text' as const, text: thought }] }
  return text === '' ? [thinking] : [thinking, { type: 'text' as const, text }]
}
