import { isObject } from '../../lib/json.ts'
import { count } from '../count.ts'
import type { TokenUsage } from '../format.ts'

/** Anthropic's `usage`: its input counts are disjoint, ours include the cached tokens. */
export function messageUsage(usage: unknown): TokenUsage | undefined {
  if (!isObject(usage)) return undefined
  const details = isObject(usage.output_tokens_details) ? usage.output_tokens_details : {}
  const cacheReadTokens = count(usage.cache_read_input_tokens)
  const cacheWriteTokens = count(usage.cache_creation_input_tokens)
  return {
    inputTokens: count(usage.input_tokens) + cacheReadTokens + cacheWriteTokens,
    outputTokens: count(usage.output_tokens),
    cacheReadTokens,
    cacheWriteTokens,
    reasoningTokens: count(details.thinking_tokens),
  }
}
