import { isObject } from '../../lib/json.ts'
import { count } from '../count.ts'
import type { TokenUsage } from '../format.ts'

/** OpenAI's `usage`: prompt tokens already include the cached ones. */
export function chatUsage(usage: unknown): TokenUsage | undefined {
  if (!isObject(usage)) return undefined
  const prompt = isObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {}
  const completion = isObject(usage.completion_tokens_details) ? usage.completion_tokens_details : {}
  return {
    inputTokens: count(usage.prompt_tokens),
    outputTokens: count(usage.completion_tokens),
    cacheReadTokens: count(prompt.cached_tokens ?? usage.prompt_cache_hit_tokens),
    cacheWriteTokens: count(prompt.cache_write_tokens),
    reasoningTokens: count(completion.reasoning_tokens),
  }
}
