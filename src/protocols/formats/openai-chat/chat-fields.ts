import { isObject, type JsonObject } from '../../../lib/json.ts'
import type { OptionName } from '../../../traits.ts'
import type { AssistantPart, ReasoningPart, ToolCallPart } from '../canonical/canonical-parts.ts'
import type { Finish, FinishReason, TokenUsage } from '../canonical/canonical-response.ts'
import type { OpaqueState, Origin } from '../canonical/canonical-state.ts'
import type { WireFinish, WireToolCall, WireUsage } from './chat-wire.ts'

/** The format's option names. The format has a field for every option. */
export const optionNames: Readonly<Record<OptionName, string>> = {
  cacheKey: 'prompt_cache_key',
  cacheOptions: 'prompt_cache_options',
  cacheRetention: 'prompt_cache_retention',
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

/** Parses the `finish_reason` of OpenAI and compatible vendors. An unknown reason is treated as a normal stop. */
export const parseFinish = (raw: string): Finish => ({ reason: finishReasons.get(raw) ?? mapGoogleReason(raw), raw })

const finishReasons = new Map<string, FinishReason>(
  Object.entries({
    stop: 'stop',
    eos: 'stop', // sent by Together
    length: 'length',
    max_tokens: 'length', // sent by servers that forward the model's own reason
    model_length: 'context-window', // sent by Mistral
    model_context_window_exceeded: 'context-window', // sent by Z.ai
    insufficient_system_resource: 'length', // DeepSeek ran out of resources
    ...{ pause_turn: 'pause', continuation: 'pause' }, // sent by Anthropic and Google
    tool_calls: 'tool-calls',
    function_call: 'tool-calls',
    content_filter: 'content-filter',
    sensitive: 'content-filter', // sent by Z.ai
    refusal: 'content-filter', // sent by Anthropic
    ...{ safety: 'content-filter', recitation: 'content-filter', blocklist: 'content-filter' }, // sent by Google
    ...{ prohibited_content: 'content-filter', spii: 'content-filter', image_safety: 'content-filter' },
  } satisfies Record<string, FinishReason>),
)

/** Maps Gemini's reasons. Google's OpenAI-compatible API sends them in uppercase, alone or after OpenAI's: `content_filter: RECITATION`. */
const mapGoogleReason = (wireReason: string): FinishReason =>
  finishReasons.get(wireReason.toLowerCase().replace(/\W.*/s, '')) ?? 'stop'

/** Maps canonical finish reasons to the client's `finish_reason`. */
export const wireFinishReasons: Readonly<Record<FinishReason, WireFinish>> = {
  stop: 'stop',
  'stop-sequence': 'stop',
  'tool-calls': 'tool_calls',
  length: 'length',
  'context-window': 'length',
  'content-filter': 'content_filter',
  pause: 'length',
  'malformed-call': 'stop',
}

/** Writes `usage` for a client. */
export function writeUsage({ inputTokens, outputTokens, ...details }: TokenUsage): WireUsage {
  const { cacheReadTokens = 0, cacheWriteTokens = 0, reasoningTokens = 0 } = details
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
 * Returns the type of a tool call, tool, or tool choice, which is also its field name. Servers and clients written in Go send both fields, one of
 * them empty: the declared type wins, then the field with values.
 */
export function getToolType(call: JsonObject): 'function' | 'custom' {
  const { type, function: functionObject, custom } = call
  if (!isObject(custom)) return 'function'
  if (!isObject(functionObject)) return 'custom'
  if (type === 'function' || type === 'custom') return type
  return hasFieldValues(custom) && !hasFieldValues(functionObject) ? 'custom' : 'function'
}

/** Returns whether any field of the object has a value other than `''`, null, or false. */
export const hasFieldValues = (object: JsonObject): boolean =>
  Object.values(object).some((value) => value !== '' && value !== null && value !== false)

/** Reads the thought signature that Google's OpenAI-compatible API puts in a call's `extra_content.google.thought_signature`. */
export function readGoogleSignature(extra: unknown): string | undefined {
  const google = isObject(extra) ? extra.google : undefined
  const signature = isObject(google) ? google.thought_signature : undefined
  return typeof signature === 'string' && signature !== '' ? signature : undefined
}

/** Returns the text of content, which is a string or a list of parts. */
export function getContentText(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map((part: unknown) => (isObject(part) && typeof part.text === 'string' ? part.text : '')).join('')
}

/** Writes a tool call for a client or a provider. */
export function writeCall({ id, name, isFreeForm, state, ...call }: ToolCallPart): WireToolCall {
  if (isFreeForm) return { id, type: 'custom', custom: { name, input: call.arguments } }
  const wireCall: WireToolCall = { id, type: 'function', function: { name, arguments: call.arguments || '{}' } }
  if (state?.kind === 'thought-signature') wireCall.extra_content = { google: { thought_signature: state.data } }
  return wireCall
}

/** Joins all of a turn's text parts or refusals. */
export const joinTexts = (content: readonly AssistantPart[], type: 'text' | 'refusal'): string =>
  content.map((part) => (part.type === type ? part.text : '')).join('')

/** Parses an entry of a provider's `reasoning_details`. The state contains the entry without its text, so that the entry can go back unchanged. */
export function parseDetail(detail: JsonObject, origin: Origin): ReasoningPart {
  const { text, summary, ...detailFields } = detail
  const isSummary = typeof summary === 'string'
  const state: OpaqueState = { origin, kind: 'detail', data: JSON.stringify(detailFields) }
  const part: ReasoningPart = {
    type: 'reasoning',
    text: isSummary ? summary : typeof text === 'string' ? text : '',
    state,
  }
  if (isSummary) part.isSummary = true
  return part
}
