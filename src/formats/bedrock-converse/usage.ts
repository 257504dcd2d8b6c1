import { isObject } from '../../lib/json.ts'
import type { TokenUsage } from '../canonical/usage.ts'
import { count } from '../count.ts'

/** `usage` of Converse: its input counts are disjoint, ours include the cached tokens. */
export function converseUsage(usage: unknown): TokenUsage | undefined {
  if (!isObject(usage)) return undefined
  const cacheReadTokens = count(usage.cacheReadInputTokens)
  const cacheWriteTokens = count(usage.cacheWriteInputTokens)
  return {
    inputTokens: count(usage.inputTokens) + cacheReadTokens + cacheWriteTokens,
    outputTokens: count(usage.outputTokens),
    cacheReadTokens,
    cacheWriteTokens,
  }
}
