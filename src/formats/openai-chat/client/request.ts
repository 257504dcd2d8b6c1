import type { JsonObject } from '../../../lib/json.ts'
import { EFFORTS } from '../../canonical/base-traits.ts'
import { type Fields, fieldsOf } from '../../canonical/fields.ts'
import type { CanonicalRequest, OutputFormat, ReasoningOptions, RequestOptions } from '../../canonical/request.ts'
import { defined } from '../../canonical/values.ts'
import { noteNames, type Synonyms, type Warnings } from '../../canonical/warnings.ts'
import { parseCacheOptions, parseEndUser, parseServiceTier } from '../../openai-fields.ts'
import type { ParseContext } from '../../translator.ts'
import { parseTurns } from './conversation.ts'
import { parseToolChoice, parseTools } from './tools.ts'

/** Parses a client's request for a chat completion. */
export function parseRequest(json: JsonObject, { warnings }: ParseContext): CanonicalRequest {
  const body = fieldsOf(json, '', warnings)
  noteNames(json, synonyms, warnings)
  const messages = body.list('messages') ?? warnings.refuse('messages', 'is required.')
  const stream = body.flag('stream') ?? false
  const wantsUsage = body.fields('stream_options')?.flag('include_usage') ?? false // has no meaning without a stream
  const toolChoice = parseToolChoice(body, warnings)
  const request = defined<CanonicalRequest>({
    model: body.text('model') ?? '',
    stream,
    streamUsage: stream && wantsUsage,
    turns: parseTurns(messages, warnings),
    tools: parseTools(body, toolChoice, warnings),
    toolChoice,
    output: parseOutput(body, warnings),
    options: parseOptions(body, warnings),
    client: json.functions ? { functions: true } : undefined,
  })
  body.drop()
  return request
}

function parseOutput(body: Fields, warnings: Warnings): OutputFormat | undefined {
  const format = body.fields('response_format')
  if (!format) return undefined
  const type = format.word('type', ['text', 'json_object', 'json_schema'])
  if (type === 'json_object') return { type: 'json' }
  if (type !== 'json_schema') return undefined
  const named = format.fields('json_schema') ?? warnings.refuse(format.path('json_schema'), 'is required.')
  const output = defined<OutputFormat & { type: 'json-schema' }>({
    type: 'json-schema',
    schema: named.object('schema') ?? {},
    name: named.text('name'),
    description: named.text('description'),
    strict: named.flag('strict'),
  })
  named.drop()
  format.drop()
  warnings.place(output, named.at)
  return output
}

/** Parses the options: all fields besides the conversation, the tools and the output format. */
function parseOptions(body: Fields, warnings: Warnings): RequestOptions {
  body.ignore('max_tokens', 'user', 'random_seed', 'top_logprobs', 'prompt_cache_retention') // older names, ignored if the newer ones are set, too
  return defined<RequestOptions>({
    cacheKey: body.text('prompt_cache_key'),
    cacheOptions: parseCacheOptions(body),
    candidates: body.number('n'),
    endUser: parseEndUser(body),
    frequencyPenalty: body.number('frequency_penalty'),
    labels: body.textsByName('metadata'),
    logitBias: body.numbersByName('logit_bias'),
    logprobs: parseLogprobs(body, warnings),
    maxOutputTokens: body.number('max_completion_tokens') ?? body.number('max_tokens'),
    modalities: body.list('modalities')?.filter(isModality),
    moderation: body.object('moderation'),
    parallelToolCalls: body.flag('parallel_tool_calls'),
    prediction: parsePrediction(body),
    presencePenalty: body.number('presence_penalty'),
    reasoning: parseReasoning(body),
    seed: body.number('seed') ?? body.number('random_seed'), // Mistral
    serviceTier: parseServiceTier(body),
    speech: parseSpeech(body),
    stop: typeof body.any('stop') === 'string' ? [body.text('stop') ?? ''] : body.texts('stop'),
    store: body.flag('store'),
    temperature: body.number('temperature'),
    topK: body.number('top_k'),
    topP: body.number('top_p'),
    verbosity: body.wordOrDrop('verbosity', ['low', 'medium', 'high']),
  })
}

function parseLogprobs(body: Fields, warnings: Warnings): number | undefined {
  const top = body.number('top_logprobs')
  if (body.flag('logprobs')) return top ?? 0
  if (top) warnings.noteDropped('top_logprobs') // has no meaning without `logprobs`
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
  const voice = typeof audio?.any('voice') === 'string' ? audio.text('voice') : audio?.object('voice')
  return audio && voice !== undefined ? defined({ voice, format: audio.text('format') }) : undefined
}

const isModality = (value: unknown): value is 'text' | 'audio' | 'image' =>
  value === 'text' || value === 'audio' || value === 'image'

/** Parses what a client asks of the model's reasoning: by OpenAI's effort, or by the fields of other vendors. */
function parseReasoning(body: Fields): ReasoningOptions | undefined {
  const { effort, budget, show } = parseVendorReasoning(body)
  const reasoning = defined<ReasoningOptions>({
    effort: body.wordOrDrop('reasoning_effort', EFFORTS) ?? effort,
    budget,
    show,
  })
  return Object.keys(reasoning).length > 0 ? reasoning : undefined
}

/** Parses the fields by which single vendors switch reasoning on and off. */
function parseVendorReasoning(body: Fields): { [K in keyof ReasoningOptions]: ReasoningOptions[K] | undefined } {
  const object = body.fields('reasoning') // OpenRouter
  const thinking = body.fields('thinking') // DeepSeek, Z.ai, Kimi, Anthropic's compatible API
  const template = body.fields('chat_template_kwargs') // vLLM
  const enabled = body.flag('enable_thinking') ?? template?.flag('enable_thinking') // Qwen
  const hidden =
    object?.flag('exclude') ?? (body.flag('include_reasoning') === false || body.any('reasoning_format') === 'hidden')
  const type = thinking?.text('type')
  const isOff = object?.flag('enabled') === false || type === 'disabled' || enabled === false
  const isOn = object?.flag('enabled') || type === 'enabled' || type === 'adaptive' || enabled
  const budget = object?.number('max_tokens') ?? thinking?.number('budget_tokens') ?? body.number('thinking_budget')
  const effort = object?.wordOrDrop('effort', EFFORTS)
  for (const switches of [object, thinking, template]) switches?.drop()
  return {
    effort: effort ?? (isOff ? 'none' : undefined),
    budget: budget ?? (isOn && !isOff && effort === undefined ? 'auto' : undefined),
    show: hidden ? 'none' : undefined,
  }
}

/** For each option its names in order of precedence: OpenAI's, older ones, and those of single vendors. */
const synonyms: Synonyms = {
  cacheOptions: ['prompt_cache_options', 'prompt_cache_retention'],
  endUser: ['safety_identifier', 'user'],
  maxOutputTokens: ['max_completion_tokens', 'max_tokens'],
  reasoning: [
    ...['reasoning_effort', 'reasoning', 'thinking', 'thinking_budget'],
    ...['enable_thinking', 'chat_template_kwargs', 'include_reasoning', 'reasoning_format'],
  ],
  seed: ['seed', 'random_seed'],
  toolChoice: ['tool_choice', 'function_call'],
}
