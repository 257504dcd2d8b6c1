import type { JsonObject } from '../../lib/json.ts'
import type { Answer, Choice, Finish } from '../canonical/answer.ts'
import { dataUrl } from '../canonical/data-url.ts'
import { defined } from '../canonical/defined.ts'
import { detachStates } from '../canonical/detach.ts'
import { type Losses, loseEnd } from '../canonical/losses.ts'
import type { AssistantPart, ImagePart } from '../canonical/parts.ts'
import type { WriteContext } from '../translator.ts'
import { wireAnnotation } from './annotations.ts'
import { textOf, writeCall } from './assistant-write.ts'
import { wireAudio } from './audio.ts'
import { wireFinish } from './finish-reason.ts'
import { wireLogprobs } from './logprobs.ts'
import { createPlaces, wireDetail } from './reasoning-details.ts'
import { wireUsage } from './usage.ts'
import type { WireAnnotation, WireAnswer, WireFinish, WireImage, WireReply } from './wire.ts'

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

function writeChoice({ content, finish }: Choice, index: number, context: WriteContext): WireAnswer['choices'][number] {
  const tokens = content.flatMap((part) => (part.type === 'text' ? (part.logprobs ?? []) : []))
  const isLegacy = context.request.client?.functions === true
  const reason = writeFinish(finish, context)
  return {
    index,
    message: writeMessage(detachStates(content), isLegacy, context.losses),
    finish_reason: reason,
    logprobs: tokens.length > 0 ? { content: wireLogprobs(tokens), refusal: null } : null,
  }
}

/** Why a choice ended. */
export function writeFinish(finish: Finish, { request, losses }: WriteContext): WireFinish {
  loseEnd(finish, request, losses)
  const reason = wireFinish(finish.reason)
  return request.client?.functions === true && reason === 'tool_calls' ? 'function_call' : reason
}

function writeMessage(content: readonly AssistantPart[], isLegacy: boolean, losses: Losses): WireReply {
  const calls = content.filter((part) => part.type === 'tool-call')
  const audio = content.find((part) => part.type === 'audio')
  const images = content.flatMap((part) => (part.type === 'image' ? wireImage(part, losses) : []))
  const annotations = writeAnnotations(content, losses)
  const placeOf = createPlaces()
  const details = content.flatMap((part) => {
    const place = placeOf(part)
    return (part.type === 'reasoning' && wireDetail(part, place)) || []
  })
  const [first] = calls
  if (isLegacy && calls.length > 1) losses.dropped('tool_calls')
  if (content.some(hasResults)) losses.dropped('web_search_results')
  return defined<WireReply>({
    role: 'assistant',
    content: textOf(content, 'text') || null,
    refusal: textOf(content, 'refusal') || null,
    reasoning_content: content.map((part) => (part.type === 'reasoning' ? part.text : '')).join('') || undefined,
    reasoning_details: details.length > 0 ? details : undefined,
    annotations, // always there in OpenAI's own
    audio: audio && wireAudio(audio, losses),
    images: images.length > 0 ? images : undefined,
    tool_calls: first && !isLegacy ? calls.map(writeCall) : undefined,
    function_call: first && isLegacy ? { name: first.name, arguments: first.arguments } : undefined,
  })
}

function writeAnnotations(content: readonly AssistantPart[], losses: Losses): WireAnnotation[] {
  let offset = 0
  return content.flatMap((part) => {
    if (part.type !== 'text') return []
    const { length } = part.text
    const place = { offset, length }
    const annotations = (part.citations ?? []).flatMap((citation) => wireAnnotation(citation, place, losses))
    offset += length
    return annotations
  })
}

/** What a search has found beyond what the text cites; there is no place for it. */
export const hasResults = (part: AssistantPart): boolean => part.type === 'server-tool' && part.results.length > 0

/** An extension: OpenRouter's clients know it. */
export function wireImage({ source }: ImagePart, losses: Losses): WireImage[] {
  if (source.type === 'base64') return [{ type: 'image_url', image_url: { url: dataUrl(source) } }]
  if (source.type === 'url') return [{ type: 'image_url', image_url: { url: source.url } }]
  losses.dropped('image')
  return []
}
