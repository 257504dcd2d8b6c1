import type { TokenUsage } from '../canonical/usage.ts'
import { wireTier } from './tier.ts'
import type { WireCounts, WireUsage } from './wire.ts'

/** The counts as Anthropic tells them in the last delta of a stream: clients add up the three of the input. */
export function wireCounts(usage: TokenUsage): WireCounts {
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0, reasoningTokens } = usage
  const read = Math.min(cacheReadTokens, inputTokens)
  const written = Math.min(cacheWriteTokens, inputTokens - read) // some count what was read as written too
  return {
    input_tokens: inputTokens - read - written,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: read,
    output_tokens: outputTokens,
    output_tokens_details: reasoningTokens === undefined ? null : { thinking_tokens: reasoningTokens },
    server_tool_use: null,
  }
}

/** The counts of a whole message. */
export function wireUsage(usage: TokenUsage, tier?: string): WireUsage {
  return {
    ...wireCounts(usage),
    cache_creation: null,
    inference_geo: null,
    service_tier: wireTier(tier),
    speed: null,
  }
}
