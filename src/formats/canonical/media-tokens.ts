import { isObject } from '../../lib/json.ts'
import type { TokenUsage } from './answer.ts'
import { tokenCount } from './values.ts'

/**
 * The tokens of images and sound, by the details of the input and of the output: members such as `audio_tokens` at OpenAI, a list by `modality` at
 * Google. Members of no tokens are left out.
 */
export function mediaTokens(input: unknown, output: unknown): Partial<TokenUsage> {
  const tokens: Partial<TokenUsage> = {}
  for (const media of ['Image', 'Audio'] as const) {
    const ofInput = tokensOf(input, media)
    const ofOutput = tokensOf(output, media)
    if (ofInput) tokens[`input${media}Tokens`] = ofInput
    if (ofOutput) tokens[`output${media}Tokens`] = ofOutput
  }
  return tokens
}

function tokensOf(details: unknown, media: string): number {
  if (!Array.isArray(details)) return isObject(details) ? tokenCount(details[`${media.toLowerCase()}_tokens`]) : 0
  const counts = details.map((one) =>
    isObject(one) && one.modality === media.toUpperCase() ? tokenCount(one.tokenCount) : 0,
  )
  return counts.reduce((sum, count) => sum + count, 0)
}
