import type { JsonObject } from '../../../../lib/json.ts'
import { toDataUrl } from '../../canonical/canonical-media.ts'
import type { AssistantPart, AudioPart, Citation, ImagePart, TokenLogprob } from '../../canonical/canonical-parts.ts'
import {
  type CanonicalResponse,
  type Choice,
  type Finish,
  warnAboutFinish,
  warnAboutPause,
} from '../../canonical/canonical-response.ts'
import { omitUndefined } from '../../canonical/canonical-values.ts'
import type { ResponseWarnings } from '../../canonical/canonical-warnings.ts'
import { moveStateToReasoning } from '../../canonical/state-in-reasoning.ts'
import { writeTokenLogprobs } from '../../openai-fields.ts'
import type { WriterContext } from '../../translator.ts'
import { joinTexts, wireFinishReasons, writeCall, writeUsage } from '../chat-fields.ts'
import type {
  WireAnnotation,
  WireFinish,
  WireImage,
  WireLogprob,
  WireResponse,
  WireResponseMessage,
} from '../chat-wire.ts'
import { createPartIndexer, writeDetail } from './chat-client-reasoning-details.ts'

/** Writes a complete response for a client. */
export function writeResponse({ choices, usage }: CanonicalResponse, context: WriterContext): JsonObject {
  return omitUndefined<WireResponse>({
    id: `chatcmpl-${context.newId()}`,
    object: 'chat.completion',
    created: context.nowSeconds,
    model: context.model,
    choices: choices.map((choice, index) => writeChoice(choice, index, context)),
    usage: usage && writeUsage(usage),
  })
}

function writeChoice(
  { content, finish }: Choice,
  index: number,
  context: WriterContext,
): WireResponse['choices'][number] {
  const tokens = content.flatMap((part) => (part.type === 'text' ? (part.logprobs ?? []) : []))
  const isLegacy = context.request.client?.functions === true
  const reason = writeFinish(finish, context)
  return {
    index,
    message: writeMessage(moveStateToReasoning(content), isLegacy, context.responseWarnings),
    finish_reason: reason,
    logprobs: tokens.length > 0 ? { content: writeLogprobs(tokens), refusal: null } : null,
  }
}

/** Writes a choice's finish reason, and warns if the format can't express how the response ended. */
export function writeFinish(finish: Finish, { request, responseWarnings }: WriterContext): WireFinish {
  warnAboutFinish(finish, request, responseWarnings)
  warnAboutPause(finish, responseWarnings)
  const reason = wireFinishReasons[finish.reason]
  return request.client?.functions === true && reason === 'tool_calls' ? 'function_call' : reason
}

function writeMessage(
  content: readonly AssistantPart[],
  isLegacy: boolean,
  responseWarnings: ResponseWarnings,
): WireResponseMessage {
  const calls = content.filter((part) => part.type === 'tool-call')
  const audio = content.find((part) => part.type === 'audio')
  const images = content.flatMap((part) => (part.type === 'image' ? writeImage(part, responseWarnings) : []))
  const annotations = writeAnnotations(content, responseWarnings)
  const indexPart = createPartIndexer()
  const details = content.flatMap((part) => {
    const index = indexPart(part)
    return (part.type === 'reasoning' && writeDetail(part, index)) || []
  })
  const [firstCall] = calls
  if (isLegacy && calls.length > 1) responseWarnings.recordDrop('tool_calls')
  if (content.some(hasSearchResults)) responseWarnings.recordDrop('web_search_results')
  return omitUndefined<WireResponseMessage>({
    role: 'assistant',
    content: joinTexts(content, 'text') || null,
    refusal: joinTexts(content, 'refusal') || null,
    reasoning_content: content.map((part) => (part.type === 'reasoning' ? part.text : '')).join('') || undefined,
    reasoning_details: details.length > 0 ? details : undefined,
    annotations, // OpenAI always sends `annotations`
    audio: audio && writeAudio(audio, responseWarnings),
    images: images.length > 0 ? images : undefined,
    tool_calls: firstCall && !isLegacy ? calls.map(writeCall) : undefined,
    function_call: firstCall && isLegacy ? { name: firstCall.name, arguments: firstCall.arguments } : undefined,
  })
}

function writeAnnotations(content: readonly AssistantPart[], responseWarnings: ResponseWarnings): WireAnnotation[] {
  let offset = 0
  return content.flatMap((part) => {
    if (part.type !== 'text') return []
    const { length } = part.text
    const range = { offset, length }
    const annotations = (part.citations ?? []).flatMap((citation) => writeAnnotation(citation, range, responseWarnings))
    offset += length
    return annotations
  })
}

/** Returns whether the part contains search results, which the format has no field for. */
export const hasSearchResults = (part: AssistantPart): boolean => part.type === 'server-tool' && part.results.length > 0

/** Writes an image in OpenRouter's format extension. */
export function writeImage({ source }: ImagePart, responseWarnings: ResponseWarnings): WireImage[] {
  if (source.type === 'base64') return [{ type: 'image_url', image_url: { url: toDataUrl(source) } }]
  if (source.type === 'url') return [{ type: 'image_url', image_url: { url: source.url } }]
  responseWarnings.recordDrop('image')
  return []
}

/** Writes a citation. `offset` and `length` locate the cited part within the entire content. */
export function writeAnnotation(
  citation: Citation,
  { offset, length }: { offset: number; length: number },
  responseWarnings: ResponseWarnings,
): WireAnnotation[] {
  const { url, title = '', start = 0, end = length } = citation
  if (url === undefined) {
    responseWarnings.recordDrop('citations') // a document citation has no URL
    return []
  }
  return [{ type: 'url_citation', url_citation: { url, title, start_index: offset + start, end_index: offset + end } }]
}

/** Writes model-generated audio. */
export function writeAudio(
  { source, id = '', transcript = '', expiresAt = 0 }: AudioPart,
  responseWarnings: ResponseWarnings,
): WireResponseMessage['audio'] {
  if (source.type === 'base64') return { id, data: source.data, expires_at: expiresAt, transcript }
  responseWarnings.recordDrop('audio')
  return undefined
}

/** Writes tokens with their log probabilities. Unknown bytes become `null`. */
export const writeLogprobs = (tokens: readonly TokenLogprob[]): WireLogprob[] => writeTokenLogprobs(tokens, null)
