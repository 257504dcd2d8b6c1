import type { OptionName } from '../../traits.ts'

/** What this format calls the options. It has a place for all of them. */
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
