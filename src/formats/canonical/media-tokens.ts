import { isObject } from '../../lib/json.ts'
import type { TokenUsage } from './answer.ts'
import { tokenCount } from './values.ts'

/**
 * The tokens of images and sound, by the details of the input and of the output: members such as `audio_tokens` at OpenAI, a list by `modality` at
 * Google. Members of no tokens are left out.
 */
export function mediaTokens(input: unknown, output: unknown): Partial<TokenUsage> {
  const tokens: Partial<TokenUsage> = {}
  if (!input && !output) return tokens
  for (const [name, count] of [
    ['inputImageTokens', tokensOf(input, 'image')],
    ['inputAudioTokens', tokensOf(input, 'audio')],
    ['outputImageTokens', tokensOf(output, 'image')],
    ['outputAudioTokens', tokensOf(output, 'audio')],
  ] as const)
    if (count > 0) tokens[name] = count
  return tokens
}

function tokensOf(details: unknown, modality: 'image' | 'audio'): number {
  if (!Array.isArray(details)) return isObject(details) ? tokenCount(details[`${modality}_tokens`]) : 0
  return details.reduce<number>(
    (sum, one) => sum + (isObject(one) && one.modality === modality.toUpperCase() ? tokenCount(one.tokenCount) : 0),
    0,
  )
}
