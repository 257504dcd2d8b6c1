import type { JsonObject } from '../../../lib/json.ts'
import { type Answer, type Choice, type Finish, warnOfLostEnd } from '../../canonical/answer.ts'
import { dataUrl } from '../../canonical/media.ts'
import type { AssistantPart, AudioPart, Citation, ImagePart, TokenLogprob } from '../../canonical/parts.ts'
import { moveStateToReasoning } from '../../canonical/state-in-reasoning.ts'
import { defined } from '../../canonical/values.ts'
import type { ResponseWarnings } from '../../canonical/warnings.ts'
import { wireTokens } from '../../openai-fields.ts'
import type { WriteContext } from '../../translator.ts'
import { textOf, wireFinish, wireUsage, writeCall } from '../fields.ts'
import type { WireAnnotation, WireAnswer, WireAnswerMessage, WireFinish, WireImage, WireLogprob } from '../wire.ts'
import { createPartIndexer, wireDetail } from './reasoning-details.ts'

/** Writes a whole answer for a client. */
export function writeAnswer({ choices, usage }: Answer, context: WriteContext): JsonObject {
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
    message: writeMessage(moveStateToReasoning(content), isLegacy, context.responseWarnings),
    finish_reason: reason,
    logprobs: tokens.length > 0 ? { content: wireLogprobs(tokens), refusal: null } : null,
  }
}

/** The finish reason of a choice. */
export function writeFinish(finish: Finish, { request, responseWarnings }: WriteContext): WireFinish {
  warnOfLostEnd(finish, request, responseWarnings)
  const reason = wireFinish(finish.reason)
  return request.client?.functions === true && reason === 'tool_calls' ? 'function_call' : reason
}

function writeMessage(
  content: readonly AssistantPart[],
  isLegacy: boolean,
  responseWarnings: ResponseWarnings,
): WireAnswerMessage {
  const calls = content.filter((part) => part.type === 'tool-call')
  const audio = content.find((part) => part.type === 'audio')
  const images = content.flatMap((part) => (part.type === 'image' ? wireImage(part, responseWarnings) : []))
  const annotations = writeAnnotations(content, responseWarnings)
  const placeOf = createPartIndexer()
  const details = content.flatMap((part) => {
    const place = placeOf(part)
    return (part.type === 'reasoning' && wireDetail(part, place)) || []
  })
  const [first] = calls
  if (isLegacy && calls.length > 1) responseWarnings.noteDropped('tool_calls')
  if (content.some(hasSearchResults)) responseWarnings.noteDropped('web_search_results')
  return defined<WireAnswerMessage>({
    role: 'assistant',
    content: textOf(content, 'text') || null,
    refusal: textOf(content, 'refusal') || null,
    reasoning_content: content.map((part) => (part.type === 'reasoning' ? part.text : '')).join('') || undefined,
    reasoning_details: details.length > 0 ? details : undefined,
    annotations, // OpenAI always sends them
    audio: audio && wireAudio(audio, responseWarnings),
    images: images.length > 0 ? images : undefined,
    tool_calls: first && !isLegacy ? calls.map(writeCall) : undefined,
    function_call: first && isLegacy ? { name: first.name, arguments: first.arguments } : undefined,
  })
}

function writeAnnotations(content: readonly AssistantPart[], responseWarnings: ResponseWarnings): WireAnnotation[] {
  let offset = 0
  return content.flatMap((part) => {
    if (part.type !== 'text') return []
    const { length } = part.text
    const place = { offset, length }
    const annotations = (part.citations ?? []).flatMap((citation) => wireAnnotation(citation, place, responseWarnings))
    offset += length
    return annotations
  })
}

/** Does the part hold search results? The format has no place for them. */
export const hasSearchResults = (part: AssistantPart): boolean => part.type === 'server-tool' && part.results.length > 0

/** Writes an image as an extension that OpenRouter's clients know. */
export function wireImage({ source }: ImagePart, responseWarnings: ResponseWarnings): WireImage[] {
  if (source.type === 'base64') return [{ type: 'image_url', image_url: { url: dataUrl(source) } }]
  if (source.type === 'url') return [{ type: 'image_url', image_url: { url: source.url } }]
  responseWarnings.noteDropped('image')
  return []
}

/** Writes a citation; `offset` and `length` of the part with the citation, within the whole content. */
export function wireAnnotation(
  citation: Citation,
  { offset, length }: { offset: number; length: number },
  responseWarnings: ResponseWarnings,
): WireAnnotation[] {
  const { url, title = '', start = 0, end = length } = citation
  if (url === undefined) {
    responseWarnings.noteDropped('citations') // those of documents have no URL
    return []
  }
  return [{ type: 'url_citation', url_citation: { url, title, start_index: offset + start, end_index: offset + end } }]
}

/** Writes the model's speech. */
export function wireAudio(
  { source, id = '', transcript = '', expiresAt = 0 }: AudioPart,
  responseWarnings: ResponseWarnings,
): WireAnswerMessage['audio'] {
  if (source.type === 'base64') return { id, data: source.data, expires_at: expiresAt, transcript }
  responseWarnings.noteDropped('audio')
  return undefined
}

/** Writes tokens with their probabilities; bytes that are not known are `null`. */
export const wireLogprobs = (tokens: readonly TokenLogprob[]): WireLogprob[] => wireTokens(tokens, null)
