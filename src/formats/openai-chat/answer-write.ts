import type { JsonObject } from '../../lib/json.ts'
import type { Answer, Choice } from '../canonical/answer.ts'
import { dataUrl } from '../canonical/data-url.ts'
import { defined } from '../canonical/defined.ts'
import { detachStates } from '../canonical/detach.ts'
import type { AssistantPart, ImagePart } from '../canonical/parts.ts'
import type { WriteContext } from '../translator.ts'
import { wireAnnotation } from './annotations.ts'
import { textOf, writeCall } from './assistant-write.ts'
import { wireAudio } from './audio.ts'
import { wireFinish } from './finish-reason.ts'
import { wireLogprobs } from './logprobs.ts'
import { createPlaces, wireDetail } from './reasoning-details.ts'
import { wireUsage } from './usage.ts'
import type { WireAnnotation, WireAnswer, WireImage, WireReply } from './wire.ts'

/** A whole answer as a client of chat completions reads it. */
export function writeAnswer(answer: Answer, context: WriteContext): JsonObject {
  return chatCompletion(answer, context)
}

function chatCompletion({ choices, usage }: Answer, context: WriteContext): WireAnswer {
  return defined<WireAnswer>({
    id: `chatcmpl-${context.newId()}`,
    object: 'chat.completion',
    created: context.now,
    model: context.model,
    choices: choices.map((choice, index) => writeChoice(choice, index, context)),
    usage: usage && wireUsage(usage),
  })
}

function writeChoice(
  { content, finish }: Choice,
  index: number,
  { request }: WriteContext,
): WireAnswer['choices'][number] {
  const tokens = content.flatMap((part) => (part.type === 'text' ? (part.logprobs ?? []) : []))
  const isLegacy = request.client?.functions === true
  const reason = wireFinish(finish.reason)
  return {
    index,
    message: writeMessage(detachStates(content), isLegacy),
    finish_reason: isLegacy && reason === 'tool_calls' ? 'function_call' : reason,
    logprobs: tokens.length > 0 ? { content: wireLogprobs(tokens), refusal: null } : null,
  }
}

function writeMessage(content: readonly AssistantPart[], isLegacy: boolean): WireReply {
  const calls = content.filter((part) => part.type === 'tool-call')
  const audio = content.find((part) => part.type === 'audio')
  const images = content.flatMap((part) => (part.type === 'image' ? wireImage(part) : []))
  const annotations = writeAnnotations(content)
  const placeOf = createPlaces()
  const details = content.flatMap((part) => {
    const place = placeOf(part)
    return (part.type === 'reasoning' && wireDetail(part, place)) || []
  })
  const [first] = calls
  return defined<WireReply>({
    role: 'assistant',
    content: textOf(content, 'text') || null,
    refusal: textOf(content, 'refusal') || null,
    reasoning_content: content.map((part) => (part.type === 'reasoning' ? part.text : '')).join('') || undefined,
    reasoning_details: details.length > 0 ? details : undefined,
    annotations: annotations.length > 0 ? annotations : undefined,
    audio: audio && wireAudio(audio),
    images: images.length > 0 ? images : undefined,
    tool_calls: first && !isLegacy ? calls.map(writeCall) : undefined,
    function_call: first && isLegacy ? { name: first.name, arguments: first.arguments } : undefined,
  })
}

function writeAnnotations(content: readonly AssistantPart[]): WireAnnotation[] {
  let offset = 0
  return content.flatMap((part) => {
    if (part.type !== 'text') return []
    const { length } = part.text
    const annotations = (part.citations ?? []).flatMap((citation) => wireAnnotation(citation, offset, length))
    offset += length
    return annotations
  })
}

/** An extension: OpenRouter's clients know it. */
export function wireImage({ source }: ImagePart): WireImage[] {
  if (source.type === 'base64') return [{ type: 'image_url', image_url: { url: dataUrl(source) } }]
  return source.type === 'url' ? [{ type: 'image_url', image_url: { url: source.url } }] : []
}
