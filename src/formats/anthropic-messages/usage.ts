import { isObject, type JsonObject } from '../../lib/json.ts'
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

/** Takes the counts of one event of a stream: they are cumulative and may restate earlier ones, which they replace; null ones do not. */
export function mergeCounts(counts: JsonObject, usage: unknown): void {
  if (!isObject(usage)) return
  for (const name in usage) if (usage[name] !== null) counts[name] = usage[name]
}
