import { isObject } from '../../../lib/json.ts'
import type { Iteration, TokenUsage } from '../canonical/canonical-response.ts'
import { hasTokenCount, readString, readTokenCount } from '../canonical/canonical-values.ts'
import { readCost } from '../canonical/reported-cost.ts'
import { isBlankUsage } from '../canonical/reported-usage.ts'
import { readServedTier } from '../canonical/tiers.ts'

/** Parses Anthropic's `usage`. Returns `undefined` if it has no counts. Unlike the canonical input count, `input_tokens` excludes cached tokens. */
export function parseMessageUsage(usage: unknown): TokenUsage | undefined {
  if (!isObject(usage)) return undefined
  const cost = readCost(usage)
  const { input_tokens, output_tokens, cache_read_input_tokens } = usage
  const iterations = Array.isArray(usage.iterations) ? readIterations(usage.iterations) : []
  const isCounted = iterations.length > 0 || hasTokenCount(input_tokens, output_tokens, cache_read_input_tokens)
  if (cost.costUsd === undefined && !isCounted) return undefined
  const details = isObject(usage.output_tokens_details) ? usage.output_tokens_details : {}
  const cacheReadTokens = readTokenCount(usage.cache_read_input_tokens)
  const cacheWriteTokens = readTokenCount(usage.cache_creation_input_tokens)
  const cacheCreation = isObject(usage.cache_creation) ? usage.cache_creation : {}
  const cacheWriteLongTokens = Math.min(readTokenCount(cacheCreation.ephemeral_1h_input_tokens), cacheWriteTokens)
  return {
    inputTokens: readTokenCount(usage.input_tokens) + cacheReadTokens + cacheWriteTokens,
    outputTokens: readTokenCount(usage.output_tokens),
    cacheReadTokens,
    cacheWriteTokens,
    reasoningTokens: readTokenCount(details.thinking_tokens),
    ...(cacheWriteLongTokens > 0 && { cacheWriteLongTokens }),
    ...(iterations.length > 0 && { iterations }),
    ...readServedTier({ usage }),
    ...cost,
  }
}

/** Reads the model runs that a response took, such as a compaction or an advisor. The top-level counts don't include them. */
const readIterations = (entries: readonly unknown[]): Iteration[] =>
  entries.flatMap((entry) => {
    const { iterations: _, ...counts } = parseMessageUsage(entry) ?? NO_TOKENS
    const model = isObject(entry) ? readString(entry.model) : undefined
    return isBlankUsage(counts) ? [] : [{ ...counts, ...(model !== undefined && { model }) }]
  })

const NO_TOKENS: TokenUsage = { inputTokens: 0, outputTokens: 0 }
