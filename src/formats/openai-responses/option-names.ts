import type { OptionName } from '../../traits.ts'
import type { Synonyms } from '../canonical/said-names.ts'

/** What this format calls the options that it has a place for. The penalties are of Open Responses; OpenAI has none. */
export const optionNames = {
  cacheKey: 'prompt_cache_key',
  cacheOptions: 'prompt_cache_options',
  endUser: 'safety_identifier',
  frequencyPenalty: 'frequency_penalty',
  labels: 'metadata',
  logprobs: 'top_logprobs',
  maxOutputTokens: 'max_output_tokens',
  moderation: 'moderation',
  parallelToolCalls: 'parallel_tool_calls',
  presencePenalty: 'presence_penalty',
  reasoning: 'reasoning',
  serviceTier: 'service_tier',
  store: 'store',
  temperature: 'temperature',
  topP: 'top_p',
  verbosity: 'text.verbosity',
} as const satisfies Partial<Record<OptionName, string>>

/** The older names behind the newer ones, and what says a part of an option. */
export const synonyms: Synonyms = {
  cacheOptions: ['prompt_cache_options', 'prompt_cache_retention'],
  endUser: ['safety_identifier', 'user'],
  logprobs: ['top_logprobs', 'include'],
  reasoning: ['reasoning.effort', 'reasoning'],
}
