import type { JsonObject } from '../../lib/json.ts'
import type { OutputFormat, RequestOptions } from '../canonical/request.ts'
import { wireCacheOptions, wireEndUser } from '../openai-options.ts'
import type { TargetContext } from '../translator.ts'
import { wireReasoning } from './reasoning-options.ts'

/** The options in OpenAI's names, in the vendor's where it has its own. Undefined ones are left out by the caller. */
export function writeOptions(options: RequestOptions, { traits, warnings }: TargetContext) {
  const { cacheOptions, logprobs, maxOutputTokens, prediction, reasoning, speech } = options
  if (cacheOptions?.auto) warnings.dropped('cache_control')
  const isShown = reasoning?.show !== undefined && reasoning.show !== 'none'
  if (isShown && traits.reasoning.replay === 'never') warnings.dropped('show') // it keeps its thoughts to itself
  return {
    [traits.outputLimitField]: maxOutputTokens,
    temperature: options.temperature,
    top_p: options.topP,
    top_k: options.topK,
    frequency_penalty: options.frequencyPenalty,
    presence_penalty: options.presencePenalty,
    seed: options.seed,
    stop: options.stop,
    n: options.candidates,
    logit_bias: options.logitBias,
    logprobs: logprobs === undefined ? undefined : true,
    top_logprobs: logprobs || undefined,
    parallel_tool_calls: options.parallelToolCalls,
    ...(reasoning && wireReasoning(reasoning, traits.reasoning)),
    verbosity: options.verbosity,
    modalities: options.modalities,
    audio: speech && { format: 'pcm16', ...speech },
    prediction: prediction === undefined ? undefined : { type: 'content', content: prediction },
    moderation: options.moderation,
    safety_identifier: wireEndUser(options.endUser),
    metadata: options.labels,
    service_tier: options.serviceTier,
    store: options.store,
    prompt_cache_key: options.cacheKey,
    ...wireCacheOptions(cacheOptions),
  }
}

export function writeOutput(output: OutputFormat | undefined): JsonObject | undefined {
  if (!output) return undefined
  if (output.type === 'json') return { type: 'json_object' }
  const { name = 'answer', description, schema, strict } = output
  return { type: 'json_schema', json_schema: { name, description, schema, strict } }
}
