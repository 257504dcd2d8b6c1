import type { JsonObject } from '../../../../lib/json.ts'
import { ALL_EFFORTS } from '../../canonical/base-traits.ts'
import { type Fields, readFields, requireFields } from '../../canonical/canonical-fields.ts'
import type {
  CanonicalRequest,
  OutputFormat,
  ReasoningOptions,
  RequestOptions,
} from '../../canonical/canonical-request.ts'
import { omitUndefined } from '../../canonical/canonical-values.ts'
import { type FieldSynonyms, recordFieldNames, type Warnings } from '../../canonical/canonical-warnings.ts'
import { parseCacheOptions, parseEndUser, parseJsonSchema, parseServiceTier } from '../../openai-fields.ts'
import type { ParseContext } from '../../translator.ts'
import { parseTurns } from './chat-client-conversation.ts'
import { parseToolChoice, parseTools } from './chat-client-tools.ts'

/** Parses a client's Chat Completions request. */
export function parseRequest(json: JsonObject, { warnings }: ParseContext): CanonicalRequest {
  const body = readFields(json, '', warnings)
  recordFieldNames(json, fieldSynonyms, warnings)
  const messages = body.list('messages') ?? warnings.reject('messages', 'is required.')
  const stream = body.boolean('stream') ?? false
  const shouldIncludeUsage = body.fields('stream_options')?.boolean('include_usage') ?? false // the option only applies to streams
  const toolChoice = parseToolChoice(body, warnings)
  const request = omitUndefined<CanonicalRequest>({
    model: body.string('model') ?? '',
    stream,
    streamUsage: stream && shouldIncludeUsage,
    turns: parseTurns(messages, warnings),
    tools: parseTools(body, toolChoice, warnings),
    toolChoice,
    output: parseOutput(body, warnings),
    options: parseOptions(body, warnings),
    client: json.functions ? { functions: true } : undefined,
  })
  body.dropUnread()
  return request
}

function parseOutput(body: Fields, warnings: Warnings): OutputFormat | undefined {
  const format = body.fields('response_format')
  if (!format) return undefined
  const type = format.oneOf('type', ['text', 'json_object', 'json_schema'])
  if (type === 'json_object') return { type: 'json' }
  if (type !== 'json_schema') return undefined
  const output = parseJsonSchema(requireFields(format, 'json_schema', warnings), warnings)
  format.dropUnread()
  return output
}

function parseOptions(body: Fields, warnings: Warnings): RequestOptions {
  body.ignore('max_tokens', 'user', 'random_seed', 'top_logprobs') // older names, which are ignored if the newer ones are also set
  return omitUndefined<RequestOptions>({
    cacheKey: body.string('prompt_cache_key'),
    ...parseCacheOptions(body),
    candidates: body.number('n'),
    endUser: parseEndUser(body),
    frequencyPenalty: body.number('frequency_penalty'),
    labels: body.stringsByName('metadata'),
    logitBias: body.numbersByName('logit_bias'),
    logprobs: parseLogprobs(body, warnings),
    maxOutputTokens: body.number('max_completion_tokens') ?? body.number('max_tokens'),
    modalities: body.list('modalities')?.filter(isModality),
    moderation: body.object('moderation'),
    parallelToolCalls: body.boolean('parallel_tool_calls'),
    prediction: parsePrediction(body),
    presencePenalty: body.number('presence_penalty'),
    reasoning: parseReasoning(body),
    seed: body.number('seed') ?? body.number('random_seed'), // Mistral calls it `random_seed`
    serviceTier: parseServiceTier(body),
    speech: parseSpeech(body),
    stop: typeof body.any('stop') === 'string' ? [body.string('stop') ?? ''] : body.strings('stop'),
    store: body.boolean('store'),
    temperature: body.number('temperature'),
    topK: body.number('top_k'),
    topP: body.number('top_p'),
    verbosity: body.oneOfOrDrop('verbosity', ['low', 'medium', 'high']),
  })
}

function parseLogprobs(body: Fields, warnings: Warnings): number | undefined {
  const topLogprobs = body.number('top_logprobs')
  if (body.boolean('logprobs')) return topLogprobs ?? 0
  if (topLogprobs) warnings.recordDrop('top_logprobs') // `top_logprobs` has no effect without `logprobs`
  return undefined
}

function parsePrediction(body: Fields): string | undefined {
  const content = body.fields('prediction')?.any('content')
  if (typeof content === 'string' || content === undefined) return content
  if (!Array.isArray(content)) return undefined
  return content.map((part: { text?: unknown }) => (typeof part?.text === 'string' ? part.text : '')).join('')
}

function parseSpeech(body: Fields): RequestOptions['speech'] {
  const audio = body.fields('audio')
  const voice = typeof audio?.any('voice') === 'string' ? audio.string('voice') : audio?.object('voice')
  return audio && voice !== undefined ? omitUndefined({ voice, format: audio.string('format') }) : undefined
}

const isModality = (value: unknown): value is 'text' | 'audio' | 'image' =>
  value === 'text' || value === 'audio' || value === 'image'

function parseReasoning(body: Fields): ReasoningOptions | undefined {
  const { effort, budget, show } = parseVendorReasoning(body)
  const reasoning = omitUndefined<ReasoningOptions>({
    effort: body.oneOfOrDrop('reasoning_effort', ALL_EFFORTS) ?? effort,
    budget,
    show,
  })
  return Object.keys(reasoning).length > 0 ? reasoning : undefined
}

function parseVendorReasoning(body: Fields): { [K in keyof ReasoningOptions]: ReasoningOptions[K] | undefined } {
  const reasoningObject = body.fields('reasoning') // OpenRouter's field
  const thinking = body.fields('thinking') // used by DeepSeek, Z.ai, Kimi, and Anthropic's compatible API
  const template = body.fields('chat_template_kwargs') // vLLM's field
  const isThinkingEnabled = body.boolean('enable_thinking') ?? template?.boolean('enable_thinking') // Qwen's field
  const isHidden =
    reasoningObject?.boolean('exclude') ??
    (body.boolean('include_reasoning') === false || body.any('reasoning_format') === 'hidden')
  const type = thinking?.string('type')
  const isDisabled = reasoningObject?.boolean('enabled') === false || type === 'disabled' || isThinkingEnabled === false
  const isRequested =
    reasoningObject?.boolean('enabled') || type === 'enabled' || type === 'adaptive' || isThinkingEnabled
  const budget =
    reasoningObject?.number('max_tokens') ?? thinking?.number('budget_tokens') ?? body.number('thinking_budget')
  const effort = reasoningObject?.oneOfOrDrop('effort', ALL_EFFORTS)
  for (const reasoningFields of [reasoningObject, thinking, template]) reasoningFields?.dropUnread()
  return {
    effort: effort ?? (isDisabled ? 'none' : undefined),
    budget: budget ?? (isRequested && !isDisabled && effort === undefined ? 'auto' : undefined),
    show: isHidden ? 'none' : undefined,
  }
}

/** Each option's names in order of precedence: OpenAI's, older ones, and other vendors'. */
const fieldSynonyms: FieldSynonyms = {
  endUser: ['safety_identifier', 'user'],
  maxOutputTokens: ['max_completion_tokens', 'max_tokens'],
  reasoning: [
    ...['reasoning_effort', 'reasoning', 'thinking', 'thinking_budget'],
    ...['enable_thinking', 'chat_template_kwargs', 'include_reasoning', 'reasoning_format'],
  ],
  seed: ['seed', 'random_seed'],
  toolChoice: ['tool_choice', 'function_call'],
}
