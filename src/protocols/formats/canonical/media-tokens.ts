import { isObject } from '../../../lib/json.ts'
import type { TokenUsage } from './canonical-response.ts'
import { readTokenCount } from './canonical-values.ts'

/**
 * Reads the image and audio tokens from the input and output details. OpenAI has fields such as `audio_tokens`, and Google has a list by `modality`.
 * Omits counts of 0, except for output that Google reports as text only.
 */
export function readMediaTokens(input: unknown, output: unknown): Partial<TokenUsage> {
  const tokens: Partial<TokenUsage> = {}
  const isTextOnly =
    Array.isArray(output) && output.length > 0 && output.every((item) => isObject(item) && item.modality === 'TEXT')
  for (const medium of ['Image', 'Audio'] as const) {
    const inputTokens = countMediaTokens(input, medium)
    const outputTokens = countMediaTokens(output, medium)
    if (inputTokens) tokens[`input${medium}Tokens`] = inputTokens
    if (outputTokens || isTextOnly) tokens[`output${medium}Tokens`] = outputTokens
  }
  return tokens
}

/** Assigns all input or output tokens to one medium unless the provider breaks them down. For endpoints that only have that medium. */
export function assignToMedium(
  usage: TokenUsage,
  totalField: 'inputTokens' | 'outputTokens',
  mediumField: 'inputAudioTokens' | 'outputAudioTokens' | 'outputImageTokens',
): TokenUsage {
  return usage[mediumField] || usage[totalField] === 0 ? usage : { ...usage, [mediumField]: usage[totalField] }
}

function countMediaTokens(details: unknown, medium: string): number {
  if (!Array.isArray(details)) return isObject(details) ? readTokenCount(details[`${medium.toLowerCase()}_tokens`]) : 0
  const counts = details.map((detail) =>
    isObject(detail) && detail.modality === medium.toUpperCase() ? readTokenCount(detail.tokenCount) : 0,
  )
  return counts.reduce((sum, count) => sum + count, 0)
}
