import { entryOf } from '../../lib/entry-of.ts'
import { isObject } from '../../lib/json.ts'
import type { TokenUsage } from '../canonical/usage.ts'
import { count } from '../count.ts'
import type { WireUsage } from './wire.ts'

/**
 * Google's `usageMetadata`: the prompt includes what was cached, but not what tools of Google's own added to it; the candidates do not
 * include the thoughts. Undefined while no tokens are told, as in the first chunks of Vertex.
 */
export function geminiUsage(usage: unknown): TokenUsage | undefined {
  if (!isObject(usage)) return undefined
  const total = count(usage.totalTokenCount)
  const inputTokens = count(usage.promptTokenCount) + count(usage.toolUsePromptTokenCount)
  const reasoningTokens = count(usage.thoughtsTokenCount)
  const outputTokens = count(usage.candidatesTokenCount) + reasoningTokens
  if (total + inputTokens + outputTokens === 0) return undefined
  return {
    inputTokens,
    // Some layers tell a total that nothing else accounts for.
    outputTokens: outputTokens || Math.max(0, total - inputTokens),
    cacheReadTokens: count(usage.cachedContentTokenCount),
    reasoningTokens,
  }
}

/** The tier that served the request: the Gemini API names it, Vertex has it in the kind of traffic. */
export function serviceTierOf(usage: unknown): string | undefined {
  if (!isObject(usage)) return undefined
  const { serviceTier, trafficType } = usage
  if (typeof serviceTier === 'string') return serviceTier === 'standard' ? 'default' : serviceTier
  return typeof trafficType === 'string' ? entryOf(tiers, trafficType) : undefined
}

const tiers: Readonly<Record<string, string>> = { ON_DEMAND_FLEX: 'flex', ON_DEMAND_PRIORITY: 'priority' }

/** Tokens for a client. */
export function wireUsage({ inputTokens, outputTokens, cacheReadTokens, reasoningTokens = 0 }: TokenUsage): WireUsage {
  const thoughts = Math.min(reasoningTokens, outputTokens)
  return {
    promptTokenCount: inputTokens,
    ...(cacheReadTokens && { cachedContentTokenCount: cacheReadTokens }),
    candidatesTokenCount: outputTokens - thoughts,
    ...(thoughts > 0 && { thoughtsTokenCount: thoughts }),
    totalTokenCount: inputTokens + outputTokens,
  }
}
