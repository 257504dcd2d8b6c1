import { isObject, type JsonObject } from '../../lib/json.ts'
import type { TokenUsage } from '../canonical/usage.ts'
import { count } from '../count.ts'
import type { WireUsage } from './wire.ts'

/** OpenAI's `usage`: prompt tokens already include the cached ones. Vendors tell those in four places. */
export function chatUsage(usage: unknown): TokenUsage | undefined {
  if (!isObject(usage)) return undefined
  const prompt = isObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {}
  const completion = isObject(usage.completion_tokens_details) ? usage.completion_tokens_details : {}
  const cached = prompt.cached_tokens ?? usage.prompt_cache_hit_tokens ?? usage.cached_tokens ?? usage.num_cached_tokens
  const inputTokens = count(usage.prompt_tokens)
  const reasoningTokens = count(completion.reasoning_tokens)
  const cacheReadTokens = Math.min(count(cached), inputTokens) // some count blocks, of which the last one is not full
  return {
    inputTokens,
    outputTokens: outputOf(usage, inputTokens, reasoningTokens),
    cacheReadTokens,
    // Some tell what was read once more as written; no token is both.
    cacheWriteTokens: Math.min(count(prompt.cache_write_tokens), inputTokens - cacheReadTokens),
    reasoningTokens,
  }
}

/** xAI leaves thoughts out of the completion, and so do some layers over other formats where nothing else was said. */
function outputOf(
  { completion_tokens, total_tokens }: JsonObject,
  inputTokens: number,
  reasoningTokens: number,
): number {
  const outputTokens = count(completion_tokens)
  const rest = count(total_tokens) - inputTokens
  return outputTokens === 0 || outputTokens + reasoningTokens === rest ? Math.max(outputTokens, rest) : outputTokens
}

/** The tokens that a chunk tells, if any: Groq and Moonshot have places of their own for them. */
export function chunkUsage({ usage, x_groq, choices }: JsonObject): TokenUsage | undefined {
  if (usage) return chatUsage(usage)
  if (isObject(x_groq) && x_groq.usage) return chatUsage(x_groq.usage)
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined
  return isObject(choice) && choice.usage ? chatUsage(choice.usage) : undefined
}

/** Tokens for a client. */
export function wireUsage({ inputTokens, outputTokens, ...usage }: TokenUsage): WireUsage {
  const { cacheReadTokens = 0, cacheWriteTokens = 0, reasoningTokens = 0 } = usage
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: {
      cached_tokens: cacheReadTokens,
      ...(cacheWriteTokens > 0 && { cache_write_tokens: cacheWriteTokens }),
    },
    completion_tokens_details: { reasoning_tokens: reasoningTokens },
  }
}
