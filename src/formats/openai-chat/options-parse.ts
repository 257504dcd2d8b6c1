import { defined } from '../canonical/defined.ts'
import type { Fields } from '../canonical/fields.ts'
import type { RequestOptions } from '../canonical/request.ts'
import type { Warnings } from '../canonical/warnings.ts'
import { parseCacheOptions, parseEndUser, parseServiceTier } from '../openai-options.ts'
import { parseReasoning } from './reasoning-options.ts'

/** Everything that a request says besides its conversation and its tools. */
export function parseOptions(body: Fields, warnings: Warnings): RequestOptions {
  body.ignore('max_tokens', 'user', 'random_seed', 'top_logprobs', 'prompt_cache_retention') // older names beside newer ones
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
    verbosity: body.wish('verbosity', ['low', 'medium', 'high']),
  })
}

function parseLogprobs(body: Fields, warnings: Warnings): number | undefined {
  const top = body.number('top_logprobs')
  if (body.flag('logprobs')) return top ?? 0
  if (top) warnings.dropped('top_logprobs') // means nothing alone
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
