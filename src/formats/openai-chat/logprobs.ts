import { isObject } from '../../lib/json.ts'
import type { Losses } from '../canonical/losses.ts'
import type { TokenLogprob } from '../canonical/parts.ts'
import { parseTokens, wireTokens } from '../openai-logprobs.ts'
import type { WireLogprob } from './wire.ts'

/** `logprobs` of a choice; a refusal has no place for its own. */
export function parseLogprobs(logprobs: unknown, losses: Losses): TokenLogprob[] | undefined {
  if (!isObject(logprobs)) return undefined
  if (parseTokens(logprobs.refusal)) losses.dropped('logprobs')
  return parseTokens(logprobs.content)
}

/** Tokens for a client, whose bytes are `null` where they are not known. */
export const wireLogprobs = (tokens: readonly TokenLogprob[]): WireLogprob[] => wireTokens(tokens, null)
