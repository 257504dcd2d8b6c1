import { gatewayError } from '../../errors.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { type Answer, type Choice, type Finish, settleFinish } from '../canonical/answer.ts'
import { argumentsText } from '../canonical/arguments.ts'
import type { Citation } from '../canonical/citations.ts'
import { sourceOfUrl } from '../canonical/data-url.ts'
import { defined } from '../canonical/defined.ts'
import type { Losses } from '../canonical/losses.ts'
import type { AssistantPart, TextPart, ToolCallPart } from '../canonical/parts.ts'
import type { ReadContext } from '../translator.ts'
import { parseEmbeddedError } from '../vendor-error.ts'
import { parseAnnotations, parseSources } from './annotations.ts'
import { calledMember, googleSignature, textOf } from './assistant-parse.ts'
import { audioPart } from './audio.ts'
import { finishReasonOf } from './finish-reason.ts'
import { parseLogprobs } from './logprobs.ts'
import { parseDetail } from './reasoning-details.ts'
import { failureOf } from './stream.ts'
import { isReadable, thoughtText } from './thought-text.ts'
import { loseUnknown } from './unknown-content.ts'
import { chatUsage } from './usage.ts'

/** A provider's chat completion. */
export function parseAnswer(body: JsonObject, context: ReadContext): Answer {
  const choices = Array.isArray(body.choices) ? body.choices.filter(isObject) : []
  if (choices.length === 0)
    throw gatewayError('UPSTREAM_INVALID', { message: 'The provider sent an answer without choices.' })
  const sources = parseSources(body)
  const ids = new Set<string>()
  return defined<Answer>({
    id: text(body.id) || undefined,
    model: text(body.model) || undefined,
    choices: byIndex(choices).map((same) =>
      joined(same.map((choice) => parseChoice(choice, { ...context, sources, ids }))),
    ),
    usage: chatUsage(body.usage),
    serviceTier: text(body.service_tier) || undefined,
  })
}

interface ChoiceContext extends ReadContext {
  sources: Citation[]
  /** Of the calls so far: no two are the same. */
  ids: Set<string>
}

function parseChoice(choice: JsonObject, context: ChoiceContext): Choice {
  const message = isObject(choice.message) ? choice.message : isObject(choice.delta) ? choice.delta : {}
  const failure = failureOf(choice)
  if (failure) throw failed(failure)
  const calls = parseCalls(message, context)
  const content: AssistantPart[] = [
    ...parseThoughts(message, context),
    ...parseText(message, choice.logprobs, context),
    ...parseMedia(message, context.losses),
    ...calls,
  ]
  const reason = text(choice.finish_reason)
  const finish: Finish = { reason: reason === undefined ? 'stop' : finishReasonOf(reason) }
  if (typeof choice.stop_reason === 'string') finish.stopSequence = choice.stop_reason // vLLM
  return { content, finish: settleFinish(finish, calls.length > 0) }
}

function parseThoughts(message: JsonObject, { origin }: ReadContext): AssistantPart[] {
  const details = Array.isArray(message.reasoning_details) ? message.reasoning_details.filter(isObject) : []
  const text = details.length > 0 && isReadable(details) ? '' : thoughtText(message)
  const thought: AssistantPart = { type: 'reasoning', text, state: { origin, kind: 'text', data: '' } }
  return [...(text === '' ? [] : [thought]), ...details.map((detail) => parseDetail(detail, origin))]
}

function parseText(message: JsonObject, tokens: unknown, { sources, losses }: ChoiceContext): AssistantPart[] {
  const annotations = parseAnnotations(message.annotations, losses)
  const citations = annotations.length > 0 ? annotations : sources
  if (Array.isArray(message.content)) loseUnknown(message.content, losses)
  const said = text(message.content) ?? textOf(message.content)
  const part = defined<TextPart>({
    type: 'text',
    text: said,
    citations: citations.length > 0 ? citations : undefined,
    logprobs: parseLogprobs(tokens, losses),
  })
  const refusal = text(message.refusal)
  return [...(said === '' ? [] : [part]), ...(refusal ? [{ type: 'refusal' as const, text: refusal }] : [])]
}

/** Sound, and pictures as OpenRouter gives them. */
function parseMedia(message: JsonObject, losses: Losses): AssistantPart[] {
  const images = Array.isArray(message.images) ? message.images : []
  const parts: AssistantPart[] = images.flatMap((image: unknown) => {
    const url = isObject(image) && isObject(image.image_url) ? text(image.image_url.url) : undefined
    return url === undefined ? [] : [{ type: 'image', source: sourceOfUrl(url, 'image/png') }]
  })
  if (parts.length < images.length) losses.dropped('images')
  const audio = isObject(message.audio) ? audioPart(message.audio, losses) : undefined
  return audio ? [...parts, audio] : parts
}

function parseCalls(message: JsonObject, context: ChoiceContext): ToolCallPart[] {
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls.filter(isObject) : []
  const { function_call } = message
  const legacy = isObject(function_call) && function_call.name ? [{ function: function_call }] : [] // Snowflake: empty ones
  return [...calls, ...(calls.length > 0 ? [] : legacy)].flatMap((call: JsonObject) => parseCall(call, context) ?? [])
}

function parseCall(call: JsonObject, context: ChoiceContext): ToolCallPart | undefined {
  const kind = calledMember(call)
  const callee = isObject(call[kind]) ? call[kind] : {}
  const name = text(callee.name)
  if (!name) {
    context.losses.dropped('tool_calls')
    return undefined
  }
  const given = text(call.id)
  const id = given && !context.ids.has(given) ? given : `call_${context.newId()}`
  context.ids.add(id)
  if (kind === 'custom') return { type: 'tool-call', id, name, arguments: text(callee.input) ?? '', isFreeForm: true }
  const part: ToolCallPart = { type: 'tool-call', id, name, arguments: argumentsText(callee.arguments) }
  const signature = googleSignature(call.extra_content)
  if (signature !== undefined) part.state = { origin: context.origin, kind: 'thought-signature', data: signature }
  return part
}

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

/** GitHub Copilot tells the text and each call of one answer in choices of their own, all without an index. */
function byIndex(choices: readonly JsonObject[]): JsonObject[][] {
  const groups = new Map<number, JsonObject[]>()
  for (const choice of choices) {
    const index = Number(choice.index ?? 0)
    const same = groups.get(index)
    if (same) same.push(choice)
    else groups.set(index, [choice])
  }
  return [...groups].sort(([a], [b]) => a - b).map(([, same]) => same)
}

/** The parts of one choice, whose reason for its end may be in any of them. */
function joined(parts: readonly Choice[]): Choice {
  const content = parts.flatMap((part) => part.content)
  const { finish } = parts.findLast((part) => part.finish.reason !== 'stop') ?? parts[0] ?? {}
  const hasCalls = content.some(({ type }) => type === 'tool-call')
  return { content, finish: settleFinish(finish, hasCalls) }
}

/** OpenRouter says in the choice that it failed. */
function failed(error: unknown) {
  const { message, status } = parseEmbeddedError(error)
  return gatewayError('UPSTREAM_FAILED', { message, status })
}
