import { isObject } from '../../lib/json.ts'
import type { TokenUsage } from '../canonical/usage.ts'
import { count } from '../count.ts'
import type { WireUsage } from './wire.ts'

/** `usage` of a response: input tokens already include the cached ones, output tokens the thoughts. */
export function responseUsage(usage: unknown): TokenUsage | undefined {
  if (!isObject(usage)) return undefined
  const input = isObject(usage.input_tokens_details) ? usage.input_tokens_details : {}
  const output = isObject(usage.output_tokens_details) ? usage.output_tokens_details : {}
  const inputTokens = count(usage.input_tokens)
  const cacheReadTokens = Math.min(count(input.cached_tokens), inputTokens)
  return {
    inputTokens,
    outputTokens: count(usage.output_tokens),
    cacheReadTokens,
    cacheWriteTokens: Math.min(count(input.cache_write_tokens), inputTokens - cacheReadTokens), // as in openai-chat
    reasoningTokens: count(output.reasoning_tokens),
  }
}

/** Tokens for a client. */
export function wireUsage({ inputTokens, outputTokens, ...usage }: TokenUsage): WireUsage {
  const { cacheReadTokens = 0, cacheWriteTokens = 0, reasoningTokens = 0 } = usage
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cacheReadTokens, cache_write_tokens: cacheWriteTokens },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: inputTokens + outputTokens,
  }
}
