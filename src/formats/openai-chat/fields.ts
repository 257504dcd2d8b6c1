import { isObject, type JsonObject } from '../../lib/json.ts'
import type { OptionName } from '../../traits.ts'
import type { Finish, FinishReason, TokenUsage } from '../canonical/answer.ts'
import type { AssistantPart, ReasoningPart, ToolCallPart } from '../canonical/parts.ts'
import type { OpaqueState, Origin } from '../canonical/state.ts'
import type { WireFinish, WireToolCall, WireUsage } from './wire.ts'

/** The format's names of the options. It has a field for each of them. */
export const optionNames: Readonly<Record<OptionName, string>> = {
  cacheKey: 'prompt_cache_key',
  cacheOptions: 'prompt_cache_options',
  candidates: 'n',
  endUser: 'safety_identifier',
  frequencyPenalty: 'frequency_penalty',
  labels: 'metadata',
  logitBias: 'logit_bias',
  logprobs: 'logprobs',
  maxOutputTokens: 'max_completion_tokens',
  modalities: 'modalities',
  moderation: 'moderation',
  parallelToolCalls: 'parallel_tool_calls',
  prediction: 'prediction',
  presencePenalty: 'presence_penalty',
  reasoning: 'reasoning_effort',
  seed: 'seed',
  serviceTier: 'service_tier',
  speech: 'audio',
  stop: 'stop',
  store: 'store',
  temperature: 'temperature',
  topK: 'top_k',
  topP: 'top_p',
  verbosity: 'verbosity',
}

/** Parses the `finish_reason` of OpenAI and of compatible vendors; an unknown one counts as a normal end. */
export const finishOf = (raw: string): Finish => ({ reason: finishReasons.get(raw) ?? googleReason(raw), raw })

const finishReasons = new Map<string, FinishReason>(
  Object.entries({
    stop: 'stop',
    eos: 'stop', // Together
    length: 'length',
    max_tokens: 'length', // of servers that pass on the word of their model's own format
    model_length: 'context-window', // Mistral
    model_context_window_exceeded: 'context-window', // Z.ai
    insufficient_system_resource: 'length', // DeepSeek: cut by the provider
    tool_calls: 'tool-calls',
    function_call: 'tool-calls',
    content_filter: 'content-filter',
    sensitive: 'content-filter', // Z.ai
    refusal: 'content-filter', // Anthropic's word
    ...{ safety: 'content-filter', recitation: 'content-filter', blocklist: 'content-filter' }, // Google's words
    ...{ prohibited_content: 'content-filter', spii: 'content-filter', image_safety: 'content-filter' },
  } satisfies Record<string, FinishReason>),
)

/** Google's compatible API over Gemini has reasons of its own in capitals, alone or after OpenAI's: `content_filter: RECITATION`. */
const googleReason = (wire: string): FinishReason =>
  finishReasons.get(wire.toLowerCase().replace(/\W.*/s, '')) ?? 'stop'

/** `finish_reason` for a client. */
export const wireFinish = (reason: FinishReason): WireFinish => wireFinishes[reason]

const wireFinishes: Readonly<Record<FinishReason, WireFinish>> = {
  stop: 'stop',
  'stop-sequence': 'stop',
  'tool-calls': 'tool_calls',
  length: 'length',
  'context-window': 'length',
  'content-filter': 'content_filter',
  pause: 'stop',
  'malformed-call': 'stop',
}

/** Writes `usage` for a client. */
export function wireUsage({ inputTokens, outputTokens, ...usage }: TokenUsage): WireUsage {
  const { cacheReadTokens = 0, cacheWriteTokens = 0, reasoningTokens = 0 } = usage
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: {
      cached_tokens: cacheReadTokens,
      ...(cacheWriteTokens > 0 && { cache_write_tokens: cacheWriteTokens }),
    },
    completion_tokens_details: { reasoning_tokens: reasoningTokens },
  }
}

/**
 * Which member of a call, a tool or a tool choice is in use: the one that the type names, else the one that is not empty. Servers and clients
 * written in Go send both members, one of them empty.
 */
export function memberInUse(call: JsonObject): 'function' | 'custom' {
  const { type, function: callee, custom } = call
  if (!isObject(custom)) return 'function'
  if (!isObject(callee)) return 'custom'
  if (type === 'function' || type === 'custom') return type
  return hasValues(custom) && !hasValues(callee) ? 'custom' : 'function'
}

/** Has the object a member that is not empty? */
export const hasValues = (member: JsonObject): boolean =>
  Object.values(member).some((value) => value !== '' && value !== null && value !== false)

/** The signature that Google's compatible API over Gemini puts into `extra_content.google.thought_signature` of a call. */
export function googleSignature(extra: unknown): string | undefined {
  const google = isObject(extra) ? extra.google : undefined
  const signature = isObject(google) ? google.thought_signature : undefined
  return typeof signature === 'string' && signature !== '' ? signature : undefined
}

/** The text of a content that is a string or a list of parts. */
export function textOfContent(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map((part: unknown) => (isObject(part) && typeof part.text === 'string' ? part.text : '')).join('')
}

/** Writes a tool call, for a client as for a provider. */
export function writeCall({ id, name, isFreeForm, state, ...call }: ToolCallPart): WireToolCall {
  if (isFreeForm) return { id, type: 'custom', custom: { name, input: call.arguments } }
  const written: WireToolCall = { id, type: 'function', function: { name, arguments: call.arguments || '{}' } }
  if (state?.kind === 'thought-signature') written.extra_content = { google: { thought_signature: state.data } }
  return written
}

/** The joined texts of one kind in a turn. */
export const textOf = (content: readonly AssistantPart[], type: 'text' | 'refusal'): string =>
  content.map((part) => (part.type === type ? part.text : '')).join('')

/** Parses an entry of a provider's own `reasoning_details`. Its state is the whole entry without the text, so that it can return unchanged. */
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
