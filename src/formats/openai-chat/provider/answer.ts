import { gatewayError } from '../../../errors.ts'
import { isObject, type JsonObject } from '../../../lib/json.ts'
import { type Answer, type Choice, type Finish, settleFinish } from '../../canonical/answer.ts'
import { argumentsText } from '../../canonical/arguments.ts'
import { base64Source, sourceOfUrl } from '../../canonical/media.ts'
import type { AssistantPart, AudioPart, Citation, TextPart, TokenLogprob, ToolCallPart } from '../../canonical/parts.ts'
import { defined, textIn } from '../../canonical/values.ts'
import type { ResponseWarnings } from '../../canonical/warnings.ts'
import { parseEmbeddedError } from '../../errors/parse.ts'
import { parseTokens } from '../../openai-fields.ts'
import type { ReadContext } from '../../translator.ts'
import { finishOf, googleSignature, memberInUse, parseDetail, textOfContent } from '../fields.ts'
import { chatUsage, failureOf } from '../stream-state.ts'

/** Parses a provider's chat completion. */
export function parseAnswer(body: JsonObject, context: ReadContext): Answer {
  const choices = Array.isArray(body.choices) ? body.choices.filter(isObject) : []
  if (choices.length === 0)
    throw gatewayError('UPSTREAM_INVALID', { message: 'The provider sent an answer without choices.' })
  const sources = parseSources(body)
  const ids = new Set<string>()
  return defined<Answer>({
    id: textIn(body.id),
    model: textIn(body.model),
    choices: groupByIndex(choices).map((group) =>
      joinChoices(group.map((choice) => parseChoice(choice, { ...context, sources, ids }))),
    ),
    usage: chatUsage(body.usage),
    serviceTier: textIn(body.service_tier),
  })
}

interface ChoiceContext extends ReadContext {
  /** What the answer cites beside its choices. */
  sources: Citation[]
  /** The ids of the calls so far. */
  ids: Set<string>
}

function parseChoice(choice: JsonObject, context: ChoiceContext): Choice {
  const message = isObject(choice.message) ? choice.message : isObject(choice.delta) ? choice.delta : {}
  const failure = failureOf(choice)
  if (failure) throw choiceError(failure)
  const calls = parseCalls(message, context)
  const content: AssistantPart[] = [
    ...parseReasoning(message, context),
    ...parseText(message, choice.logprobs, context),
    ...parseMedia(message, context.responseWarnings),
    ...calls,
  ]
  const reason = textIn(choice.finish_reason)
  const finish: Finish = reason === undefined ? { reason: 'stop' } : finishOf(reason)
  if (typeof choice.stop_reason === 'string') finish.stopSequence = choice.stop_reason // vLLM
  return { content, finish: settleFinish(finish, calls.length > 0) }
}

function parseReasoning(message: JsonObject, { origin }: ReadContext): AssistantPart[] {
  const details = Array.isArray(message.reasoning_details) ? message.reasoning_details.filter(isObject) : []
  const text = details.length > 0 && hasReadableDetails(details) ? '' : reasoningText(message)
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
  const text = textOfContent(message.content)
  const part = defined<TextPart>({
    type: 'text',
    text,
    citations: citations.length > 0 ? citations : undefined,
    logprobs: parseLogprobs(tokens, responseWarnings),
  })
  const refusal = textIn(message.refusal)
  return [...(text === '' ? [] : [part]), ...(refusal ? [{ type: 'refusal' as const, text: refusal }] : [])]
}

/** Parses audio, and images in OpenRouter's form. */
function parseMedia(message: JsonObject, responseWarnings: ResponseWarnings): AssistantPart[] {
  const images = Array.isArray(message.images) ? message.images : []
  const parts: AssistantPart[] = images.flatMap((image: unknown) => {
    const url = isObject(image) && isObject(image.image_url) ? textIn(image.image_url.url) : undefined
    return url === undefined ? [] : [{ type: 'image', source: sourceOfUrl(url, 'image/png') }]
  })
  if (parts.length < images.length) responseWarnings.noteDropped('images')
  const audio = isObject(message.audio) ? audioPart(message.audio, responseWarnings) : undefined
  return audio ? [...parts, audio] : parts
}

function parseCalls(message: JsonObject, context: ChoiceContext): ToolCallPart[] {
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls.filter(isObject) : []
  const { function_call } = message
  const legacy = isObject(function_call) && function_call.name ? [{ function: function_call }] : [] // Snowflake sends empty ones
  return [...calls, ...(calls.length > 0 ? [] : legacy)].flatMap((call: JsonObject) => parseCall(call, context) ?? [])
}

function parseCall(call: JsonObject, context: ChoiceContext): ToolCallPart | undefined {
  const kind = memberInUse(call)
  const callee = isObject(call[kind]) ? call[kind] : {}
  const name = textIn(callee.name)
  if (!name) {
    context.responseWarnings.noteDropped('tool_calls')
    return undefined
  }
  const given = textIn(call.id)
  const id = given && !context.ids.has(given) ? given : `call_${context.newId()}`
  context.ids.add(id)
  if (kind === 'custom') return { type: 'tool-call', id, name, arguments: textIn(callee.input) ?? '', isFreeForm: true }
  const part: ToolCallPart = { type: 'tool-call', id, name, arguments: argumentsText(callee.arguments) }
  const signature = googleSignature(call.extra_content)
  if (signature !== undefined) part.state = { origin: context.origin, kind: 'thought-signature', data: signature }
  return part
}

/** Groups choices by their index: GitHub Copilot sends the text and each call of one answer as separate choices without an index. */
function groupByIndex(choices: readonly JsonObject[]): JsonObject[][] {
  const groups = new Map<number, JsonObject[]>()
  for (const choice of choices) {
    const index = Number(choice.index ?? 0)
    const group = groups.get(index)
    if (group) group.push(choice)
    else groups.set(index, [choice])
  }
  return [...groups].sort(([a], [b]) => a - b).map(([, group]) => group)
}

/** Joins choices of one index; any of them may have the finish reason. */
function joinChoices(parts: readonly Choice[]): Choice {
  const content = parts.flatMap((part) => part.content)
  const { finish } = parts.findLast((part) => part.finish.reason !== 'stop') ?? parts[0] ?? {}
  const hasCalls = content.some(({ type }) => type === 'tool-call')
  return { content, finish: settleFinish(finish, hasCalls) }
}

/** The error that a choice reports. */
function choiceError(error: unknown) {
  const { message, status } = parseEmbeddedError(error)
  return gatewayError('UPSTREAM_FAILED', { message, status })
}

/** The readable reasoning of a message or a delta, from the first field that holds any; some vendors send two of them. */
export function reasoningText({ reasoning_content, reasoning, reasoning_text, thinking, content }: JsonObject): string {
  return (
    textIn(reasoning_content) ??
    textIn(reasoning) ??
    textIn(reasoning_text) ?? // GitHub Copilot
    textIn(thinking) ??
    (Array.isArray(content) ? content.map(reasoningOfPart).join('') : '')
  )
}

/** Mistral: `{ type: 'thinking', thinking: [{ type: 'text', text }] }`; Databricks: `{ type: 'reasoning', summary: [{ text }] }`. */
function reasoningOfPart(part: unknown): string {
  if (!isObject(part)) return ''
  if (part.type === 'thinking') return textOfContent(part.thinking)
  return part.type === 'reasoning' ? textOfContent(part.summary) : ''
}

/** Does any of OpenRouter's `reasoning_details` hold readable text? */
export const hasReadableDetails = (details: readonly JsonObject[]): boolean =>
  details.some(({ text, summary }) => textIn(text) !== undefined || textIn(summary) !== undefined)

/** Parses `annotations` of a message or a delta; those without a URL are reported as lost. */
export function parseAnnotations(annotations: unknown, responseWarnings: ResponseWarnings): Citation[] {
  if (!Array.isArray(annotations)) return []
  const citations = annotations.flatMap((annotation: unknown) => {
    const cited = isObject(annotation) ? annotation.url_citation : undefined
    if (!isObject(cited) || typeof cited.url !== 'string') return []
    const { url, title, content, start_index: start, end_index: end } = cited
    const hasSpan = typeof start === 'number' && typeof end === 'number' && end > start
    return [
      defined<Citation>({
        url,
        title: typeof title === 'string' ? title : undefined,
        quote: typeof content === 'string' ? content : undefined,
        start: hasSpan ? start : undefined,
        end: hasSpan ? end : undefined,
      }),
    ]
  })
  if (citations.length < annotations.length) responseWarnings.noteDropped('annotations')
  return citations
}

/** Parses what Perplexity cites beside the message: `search_results`, or `citations`, which are URLs. */
export function parseSources(answer: { citations?: unknown; search_results?: unknown }): Citation[] {
  const sources = Array.isArray(answer.search_results) ? answer.search_results : answer.citations
  if (!Array.isArray(sources)) return []
  return sources.flatMap((source: unknown): Citation[] => {
    if (typeof source === 'string') return [{ url: source }]
    if (!isObject(source) || typeof source.url !== 'string') return []
    return [typeof source.title === 'string' ? { url: source.url, title: source.title } : { url: source.url }]
  })
}

/** Parses `audio` of a message. */
export function audioPart(
  { id, data, transcript, expires_at }: JsonObject,
  responseWarnings: ResponseWarnings,
): AudioPart | undefined {
  if (typeof data !== 'string' || data === '') {
    if (transcript) responseWarnings.noteDropped('audio') // Snowflake sends an empty one with every answer
    return undefined
  }
  return defined<AudioPart>({
    type: 'audio',
    source: base64Source('audio/wav', data),
    id: typeof id === 'string' ? id : undefined,
    transcript: typeof transcript === 'string' ? transcript : undefined,
    expiresAt: typeof expires_at === 'number' ? expires_at : undefined,
  })
}

/** Parses `logprobs` of a choice; those of a refusal are reported as lost. */
export function parseLogprobs(logprobs: unknown, responseWarnings: ResponseWarnings): TokenLogprob[] | undefined {
  if (!isObject(logprobs)) return undefined
  if (parseTokens(logprobs.refusal)) responseWarnings.noteDropped('logprobs')
  return parseTokens(logprobs.content)
}

/** Reports the types of content parts that are neither text nor reasoning, such as Mistral's references. */
export function dropUnknownParts(content: readonly unknown[], responseWarnings: ResponseWarnings): void {
  for (const part of content) if (isObject(part) && !isKnown(part.type)) responseWarnings.noteDropped(String(part.type))
}

const isKnown = (type: unknown): boolean =>
  type === undefined || type === 'text' || type === 'output_text' || type === 'thinking' || type === 'reasoning'
