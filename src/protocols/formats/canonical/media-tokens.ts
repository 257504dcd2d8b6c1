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
  for (const media of ['Image', 'Audio'] as const) {
    const inputTokens = countMediaTokens(input, media)
    const outputTokens = countMediaTokens(output, media)
    if (inputTokens) tokens[`input${media}Tokens`] = inputTokens
    if (outputTokens || isTextOnly) tokens[`output${media}Tokens`] = outputTokens
  }
  return tokens
}

/** Assigns all input or output tokens to one medium unless the provider breaks them down. For endpoints that only have that medium. */
export function assignToMedium(
  usage: TokenUsage,
  all: 'inputTokens' | 'outputTokens',
  medium: 'inputAudioTokens' | 'outputAudioTokens' | 'outputImageTokens',
): TokenUsage {
  return usage[medium] || usage[all] === 0 ? usage : { ...usage, [medium]: usage[all] }
}

function countMediaTokens(details: unknown, media: string): number {
  if (!Array.isArray(details)) return isObject(details) ? readTokenCount(details[`${media.toLowerCase()}_tokens`]) : 0
  const counts = details.map((detail) =>
    isObject(detail) && detail.modality === media.toUpperCase() ? readTokenCount(detail.tokenCount) : 0,
  )
  return counts.reduce((sum, count) => sum + count, 0)
}
