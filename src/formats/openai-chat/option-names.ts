import type { OptionName } from '../../traits.ts'
import type { Synonyms } from '../canonical/said-names.ts'

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

/** The older names, and those of single vendors, behind the one that counts before them. */
export const synonyms: Synonyms = {
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
