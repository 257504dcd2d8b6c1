import { formatScalar, isObject, type JsonObject } from '../../../lib/json.ts'
import type { TokenUsage } from '../canonical/canonical-response.ts'
import { readTokenCount } from '../canonical/canonical-values.ts'
import { readMediaTokens } from '../canonical/media-tokens.ts'
import { readCost } from '../canonical/reported-cost.ts'
import { readServedTier } from '../canonical/tiers.ts'
import { toEmbeddedError } from '../errors/load-error-readers.ts'
import type { EmbeddedError } from '../format.ts'

/**
 * Parses Google's `usageMetadata`. The prompt count includes cached tokens, but not tokens that Google's own tools added. The candidates count
 * doesn't include reasoning. Returns `undefined` if no tokens are reported, as in Vertex's first chunks.
 */
export function readGeminiUsage(usage: unknown): TokenUsage | undefined {
  if (!isObject(usage)) return undefined
  const totalTokens = readTokenCount(usage.totalTokenCount)
  const inputTokens = readTokenCount(usage.promptTokenCount) + readTokenCount(usage.toolUsePromptTokenCount)
  const reasoningTokens = readTokenCount(usage.thoughtsTokenCount)
  const outputTokens = readTokenCount(usage.candidatesTokenCount) + reasoningTokens
  if (totalTokens + inputTokens + outputTokens === 0) return undefined
  return {
    inputTokens,
    // Some proxies report only a total.
    outputTokens: outputTokens || Math.max(0, totalTokens - inputTokens),
    cacheReadTokens: readTokenCount(usage.cachedContentTokenCount),
    reasoningTokens,
    ...readMediaTokens(usage.promptTokensDetails, usage.candidatesTokensDetails),
    ...readServedTier({ usageMetadata: usage }),
    ...readCost(usage),
  }
}

export const readUsage = (chunk: unknown) => (isObject(chunk) ? readGeminiUsage(chunk.usageMetadata) : undefined)

export function readError(chunk: unknown) {
  if (!isObject(chunk)) return undefined
  if (!Array.isArray(chunk.candidates)) return toEmbeddedError(chunk.error)
  const candidates: JsonObject[] = chunk.candidates.filter(isObject)
  return candidates.some(hasContent)
    ? undefined
    : candidates.map((candidate) => toMalformedError(candidate, false)).find(Boolean)
}

/** Returns whether the candidate has content. Empty text without a signature doesn't count. */
export function hasContent({ content }: JsonObject): boolean {
  const parts: unknown[] = isObject(content) && Array.isArray(content.parts) ? content.parts : []
  return parts.some((part) => isObject(part) && (part.text !== '' || Object.keys(part).length > 1))
}

/** Returns an error if the finish reason means that the response is malformed, so that the call can be retried. */
export function toMalformedError(
  { finishReason, finishMessage }: JsonObject,
  isStarted: boolean,
): EmbeddedError | undefined {
  if (!(isStarted ? MALFORMED_PATTERN : MALFORMED_IF_EMPTY_PATTERN).test(formatScalar(finishReason))) return undefined
  return {
    class: 'content',
    status: 502,
    message: formatScalar(finishMessage ?? `The model's response is malformed: ${formatScalar(finishReason)}.`),
  }
}

const MALFORMED_PATTERN = /^(?:MALFORMED_|UNEXPECTED_TOOL|TOO_MANY_TOOL|MISSING_THOUGHT)/

const MALFORMED_IF_EMPTY_PATTERN = new RegExp(`${MALFORMED_PATTERN.source}|^(?:OTHER|5|NO_IMAGE)$`)
