import { isObject } from '../../../lib/json.ts'
import type { TokenUsage } from '../canonical/canonical-response.ts'
import { hasTokenCount, readTokenCount } from '../canonical/canonical-values.ts'
import { readMediaTokens } from '../canonical/media-tokens.ts'
import { readCost } from '../canonical/reported-cost.ts'
import { readLongCacheWrites } from '../canonical/reported-usage.ts'

/**
 * Parses `usage`. Returns `undefined` if it has no counts for the response. Input tokens include cached ones, and output tokens include reasoning.
 */
export function parseResponseUsage(usage: unknown): TokenUsage | undefined {
  if (!isObject(usage)) return undefined
  const cost = readCost(usage)
  if (cost.costUsd === undefined && !hasTokenCount(usage.output_tokens)) return undefined
  const inputDetails = isObject(usage.input_tokens_details) ? usage.input_tokens_details : {}
  const outputDetails = isObject(usage.output_tokens_details) ? usage.output_tokens_details : {}
  const inputTokens = readTokenCount(usage.input_tokens)
  const cacheReadTokens = Math.min(readTokenCount(inputDetails.cached_tokens), inputTokens)
  const cacheWriteTokens = Math.min(readTokenCount(inputDetails.cache_write_tokens), inputTokens - cacheReadTokens) // see `parseChatUsage` for the reason
  return {
    inputTokens,
    outputTokens: readTokenCount(usage.output_tokens),
    cacheReadTokens,
    cacheWriteTokens,
    ...readLongCacheWrites(inputDetails, cacheWriteTokens),
    reasoningTokens: readTokenCount(outputDetails.reasoning_tokens),
    ...readMediaTokens(inputDetails, outputDetails),
    ...cost,
  }
}
