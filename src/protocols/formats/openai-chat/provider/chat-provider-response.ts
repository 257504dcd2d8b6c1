import { gatewayError } from '../../../../errors.ts'
import { formatScalar, isObject, type JsonObject } from '../../../../lib/json.ts'
import { stringifyArguments } from '../../canonical/canonical-arguments.ts'
import { createBase64Source, parseMediaUrl } from '../../canonical/canonical-media.ts'
import type {
  AssistantPart,
  AudioPart,
  Citation,
  TextPart,
  TokenLogprob,
  ToolCallPart,
} from '../../canonical/canonical-parts.ts'
import { type CanonicalResponse, type Choice, type Finish, resolveFinish } from '../../canonical/canonical-response.ts'
import { omitUndefined, readString } from '../../canonical/canonical-values.ts'
import type { ResponseWarnings } from '../../canonical/canonical-warnings.ts'
import { parseEmbeddedError } from '../../errors/parse-error.ts'
import { parseTokenLogprobs } from '../../openai-fields.ts'
import type { ReaderContext } from '../../translator.ts'
import { getContentText, getToolType, parseDetail, parseFinish, readGoogleSignature } from '../chat-fields.ts'
import { getChoiceError, parseChatUsage } from '../chat-response.ts'

/** Parses a provider's chat completion. */
export function parseResponse(body: JsonObject, context: ReaderContext): CanonicalResponse {
  const choices = Array.isArray(body.choices) ? body.choices.filter(isObject) : []
  if (choices.length === 0)
    throw gatewayError('UPSTREAM_INVALID', { message: 'The provider returned a response without choices.' })
  const sources = parseSources(body)
  const usedIds = new Set<string>()
  return omitUndefined<CanonicalResponse>({
    id: readString(body.id),
    model: readString(body.model),
    choices: groupByIndex(choices).map((group) =>
      joinChoices(group.map((choice) => parseChoice(choice, { ...context, sources, usedIds }))),
    ),
    usage: parseChatUsage(body.usage),
    serviceTier: readString(body.service_tier),
  })
}

interface ChoiceContext extends ReaderContext {
  /** The response's citations outside its choices. */
  sources: Citation[]
  usedIds: Set<string>
}

function parseChoice(choice: JsonObject, context: ChoiceContext): Choice {
  const failure = getChoiceError(choice)
  if (failure) {
    const { message, status } = parseEmbeddedError(failure)
    throw gatewayError('UPSTREAM_FAILED', { message, status })
  }
  const message = isObject(choice.message) ? choice.message : isObject(choice.delta) ? choice.delta : {}
  const calls = parseCalls(message, context)
  const content: AssistantPart[] = [
    ...parseReasoning(message, context),
    ...parseText(message, choice.logprobs, context),
    ...parseMedia(message, context.responseWarnings),
    ...calls,
  ]
  const reason = readString(choice.finish_reason)
  const finish: Finish = reason === undefined ? { reason: 'stop' } : parseFinish(reason)
  if (typeof choice.stop_reason === 'string') finish.stopSequence = choice.stop_reason // only vLLM reports the stop sequence
  return { content, finish: resolveFinish(finish, calls.length > 0) }
}

function parseReasoning(message: JsonObject, { origin }: ReaderContext): AssistantPart[] {
  const details = Array.isArray(message.reasoning_details) ? message.reasoning_details.filter(isObject) : []
  const text = details.length > 0 && hasReadableDetails(details) ? '' : getReasoningText(message)
  const part: AssistantPart = { type: 'reasoning', text, state: { origin, kind: 'text', data: '' } }
  return [...(text === '' ? [] : [part]), ...details.map((detail) => parseDetail(detail, origin))]
}

function parseText(
  message: JsonObject,
  tokens: unknown,
  { sources, responseWarnings }: ChoiceContext,
): AssistantPart[] {
  const annotations = parseAnnotations(message.annotations, responseWarnings)
  const citations = annotations.length > 0 ? annotations : sources
  if (Array.isArray(message.content)) dropUnknownParts(message.content, responseWarnings)
  const text = getContentText(message.content)
  const part = omitUndefined<TextPart>({
    type: 'text',
    text,
    citations: citations.length > 0 ? citations : undefined,
    logprobs: parseLogprobs(tokens, responseWarnings),
  })
  const refusal = readString(message.refusal)
  return [...(text === '' ? [] : [part]), ...(refusal ? [{ type: 'refusal' as const, text: refusal }] : [])]
}

/** Parses audio, and images in OpenRouter's format. */
function parseMedia(message: JsonObject, responseWarnings: ResponseWarnings): AssistantPart[] {
  const images = Array.isArray(message.images) ? message.images : []
  const parts: AssistantPart[] = images.flatMap((image: unknown) => {
    const url = isObject(image) && isObject(image.image_url) ? readString(image.image_url.url) : undefined
    return url === undefined ? [] : [{ type: 'image', source: parseMediaUrl(url, 'image/png') }]
  })
  if (parts.length < images.length) responseWarnings.recordDrop('images')
  const audio = isObject(message.audio) ? parseAudio(message.audio, responseWarnings) : undefined
  return audio ? [...parts, audio] : parts
}

function parseCalls(message: JsonObject, context: ChoiceContext): ToolCallPart[] {
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls.filter(isObject) : []
  const { function_call } = message
  const legacyCalls = isObject(function_call) && function_call.name ? [{ function: function_call }] : [] // Snowflake sends empty calls
  return [...calls, ...(calls.length > 0 ? [] : legacyCalls)].flatMap(
    (call: JsonObject) => parseCall(call, context) ?? [],
  )
}

function parseCall(call: JsonObject, context: ChoiceContext): ToolCallPart | undefined {
  const toolType = getToolType(call)
  const definition = isObject(call[toolType]) ? call[toolType] : {}
  const name = readString(definition.name)
  if (!name) {
    context.responseWarnings.recordDrop('tool_calls')
    return undefined
  }
  const callId = readString(call.id)
  const id = callId && !context.usedIds.has(callId) ? callId : `call_${context.newId()}`
  context.usedIds.add(id)
  if (toolType === 'custom')
    return { type: 'tool-call', id, name, arguments: readString(definition.input) ?? '', isFreeForm: true }
  const part: ToolCallPart = { type: 'tool-call', id, name, arguments: stringifyArguments(definition.arguments) }
  const signature = readGoogleSignature(call.extra_content)
  if (signature !== undefined) part.state = { origin: context.origin, kind: 'thought-signature', data: signature }
  return part
}

/** Groups choices by index. GitHub Copilot sends the text and each call of one response as separate choices without an index. */
function groupByIndex(choices: readonly JsonObject[]): JsonObject[][] {
  const groups = new Map<number, JsonObject[]>()
  for (const choice of choices) {
    const index = Number(formatScalar(choice.index ?? 0))
    const group = groups.get(index)
    if (group) group.push(choice)
    else groups.set(index, [choice])
  }
  return [...groups].sort(([a], [b]) => a - b).map(([, group]) => group)
}

/** Joins the choices with the same index. Any of them can have the finish reason. */
function joinChoices(choices: readonly Choice[]): Choice {
  const content = choices.flatMap((part) => part.content)
  const { finish } = choices.findLast((part) => part.finish.reason !== 'stop') ?? choices[0] ?? {}
  const hasCalls = content.some(({ type }) => type === 'tool-call')
  return { content, finish: resolveFinish(finish, hasCalls) }
}

/** Returns a message's or delta's readable reasoning, from the first field that has any. Some vendors send it in two fields. */
export function getReasoningText({
  reasoning_content,
  reasoning,
  reasoning_text,
  thinking,
  content,
}: JsonObject): string {
  return (
    readString(reasoning_content) ??
    readString(reasoning) ??
    readString(reasoning_text) ?? // GitHub Copilot's field
    readString(thinking) ??
    (Array.isArray(content) ? content.map(getPartReasoning).join('') : '')
  )
}

/**
 * Reads reasoning in the content. Mistral: `{ type: 'thinking', thinking: [{ type: 'text', text }] }`; Databricks: `{ type: 'reasoning', summary: [{
 * text }] }`.
 */
function getPartReasoning(part: unknown): string {
  if (!isObject(part)) return ''
  if (part.type === 'thinking') return getContentText(part.thinking)
  return part.type === 'reasoning' ? getContentText(part.summary) : ''
}

/** Returns whether any of OpenRouter's `reasoning_details` has readable text. */
export const hasReadableDetails = (details: readonly JsonObject[]): boolean =>
  details.some(({ text, summary }) => readString(text) !== undefined || readString(summary) !== undefined)

/** Parses a message's or delta's `annotations`, and warns about annotations without a URL. */
export function parseAnnotations(annotations: unknown, responseWarnings: ResponseWarnings): Citation[] {
  if (!Array.isArray(annotations)) return []
  const citations = annotations.flatMap((annotation: unknown) => {
    const urlCitation = isObject(annotation) ? annotation.url_citation : undefined
    if (!isObject(urlCitation) || typeof urlCitation.url !== 'string') return []
    const { url, title, content, start_index: start, end_index: end } = urlCitation
    const hasSpan = typeof start === 'number' && typeof end === 'number' && end > start
    return [
      omitUndefined<Citation>({
        url,
        title: typeof title === 'string' ? title : undefined,
        quote: typeof content === 'string' ? content : undefined,
        start: hasSpan ? start : undefined,
        end: hasSpan ? end : undefined,
      }),
    ]
  })
  if (citations.length < annotations.length) responseWarnings.recordDrop('annotations')
  return citations
}

/** Parses the sources that Perplexity sends next to the message: `search_results`, or `citations`, which are URLs. */
export function parseSources(response: { citations?: unknown; search_results?: unknown }): Citation[] {
  const sources = Array.isArray(response.search_results) ? response.search_results : response.citations
  if (!Array.isArray(sources)) return []
  return sources.flatMap((source: unknown): Citation[] => {
    if (typeof source === 'string') return [{ url: source }]
    if (!isObject(source) || typeof source.url !== 'string') return []
    return [typeof source.title === 'string' ? { url: source.url, title: source.title } : { url: source.url }]
  })
}

/** Parses a message's `audio`. */
export function parseAudio(
  { id, data, transcript, expires_at }: JsonObject,
  responseWarnings: ResponseWarnings,
): AudioPart | undefined {
  if (typeof data !== 'string' || data === '') {
    if (transcript) responseWarnings.recordDrop('audio') // Snowflake sends empty audio with every response
    return undefined
  }
  return omitUndefined<AudioPart>({
    type: 'audio',
    source: createBase64Source('audio/wav', data),
    id: typeof id === 'string' ? id : undefined,
    transcript: typeof transcript === 'string' ? transcript : undefined,
    expiresAt: typeof expires_at === 'number' ? expires_at : undefined,
  })
}

/** Parses a choice's `logprobs`, and warns that a refusal's are dropped. */
export function parseLogprobs(logprobs: unknown, responseWarnings: ResponseWarnings): TokenLogprob[] | undefined {
  if (!isObject(logprobs)) return undefined
  if (parseTokenLogprobs(logprobs.refusal)) responseWarnings.recordDrop('logprobs')
  return parseTokenLogprobs(logprobs.content)
}

/** Warns about content parts that are neither text nor reasoning, such as Mistral's references. */
export function dropUnknownParts(content: readonly unknown[], responseWarnings: ResponseWarnings): void {
  for (const part of content)
    if (isObject(part) && !isKnownPartType(part.type)) responseWarnings.recordDrop(formatScalar(part.type))
}

const isKnownPartType = (type: unknown): boolean =>
  type === undefined || type === 'text' || type === 'output_text' || type === 'thinking' || type === 'reasoning'
