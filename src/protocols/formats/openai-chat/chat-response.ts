import { isObject, type JsonObject } from '../../../lib/json.ts'
import type { TokenUsage } from '../canonical/canonical-response.ts'
import { hasTokenCount, readTokenCount } from '../canonical/canonical-values.ts'
import { readMediaTokens } from '../canonical/media-tokens.ts'
import { readCost } from '../canonical/reported-cost.ts'
import { readLongCacheWrites } from '../canonical/reported-usage.ts'
import { errorReaders } from '../errors/load-error-readers.ts'

/**
 * Parses `usage`. Returns `undefined` if it has no counts for the response. Prompt tokens include cached tokens, which vendors report in four
 * different fields.
 */
export function parseChatUsage(usage: unknown): TokenUsage | undefined {
  if (!isObject(usage)) return undefined
  const cost = readCost(usage)
  const isCounted =
    hasTokenCount(usage.completion_tokens) || readTokenCount(usage.total_tokens) > readTokenCount(usage.prompt_tokens)
  if (cost.costUsd === undefined && !isCounted) return undefined
  const promptDetails = isObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {}
  const completionDetails = isObject(usage.completion_tokens_details) ? usage.completion_tokens_details : {}
  const cachedTokens =
    promptDetails.cached_tokens ?? usage.prompt_cache_hit_tokens ?? usage.cached_tokens ?? usage.num_cached_tokens
  const inputTokens = readTokenCount(usage.prompt_tokens)
  const reasoningTokens = readTokenCount(completionDetails.reasoning_tokens)
  const cacheReadTokens = Math.min(readTokenCount(cachedTokens), inputTokens) // some vendors count full cache blocks, even if the last block isn't full
  // Some vendors also count cache reads as cache writes, but no token is both.
  const cacheWriteTokens = Math.min(readTokenCount(promptDetails.cache_write_tokens), inputTokens - cacheReadTokens)
  return {
    inputTokens,
    outputTokens: countOutputTokens(usage, inputTokens, reasoningTokens),
    cacheReadTokens,
    cacheWriteTokens,
    ...readLongCacheWrites(promptDetails, cacheWriteTokens),
    reasoningTokens,
    ...readMediaTokens(promptDetails, completionDetails),
    ...cost,
  }
}

/**
 * Counts the output tokens. xAI's completion tokens don't include reasoning. Some compatible APIs report no output tokens for a response that is only
 * reasoning.
 */
function countOutputTokens(
  { completion_tokens, total_tokens }: JsonObject,
  inputTokens: number,
  reasoningTokens: number,
): number {
  const outputTokens = readTokenCount(completion_tokens)
  const remainingTokens = readTokenCount(total_tokens) - inputTokens
  return outputTokens === 0 || outputTokens + reasoningTokens === remainingTokens
    ? Math.max(outputTokens, remainingTokens)
    : outputTokens
}

/** Returns the error in a chunk or a response. Some inference servers send it without an envelope, which only the error readers recognize. */
export const getChunkError = (chunk: JsonObject): unknown =>
  chunk.error || 'choices' in chunk
    ? chunk.error
    : chunk.object === 'error'
      ? chunk
      : errorReaders?.readUnnamedError(chunk)?.error

/** Returns a choice's error. OpenRouter and Z.ai report an upstream failure as a finish reason. */
export const getChoiceError = ({ error, finish_reason: reason }: JsonObject): unknown =>
  error || (reason === 'error' || reason === 'network_error' ? FAILED_CHOICE_MESSAGE : undefined)

const FAILED_CHOICE_MESSAGE = 'The provider reported that the response ended in an error.'

export function findChoiceError(choices: unknown): unknown {
  if (!Array.isArray(choices)) return undefined
  for (const choice of choices) {
    const failure = isObject(choice) && getChoiceError(choice)
    if (failure) return failure
  }
  return undefined
}
