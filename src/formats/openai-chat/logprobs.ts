import { isObject } from '../../lib/json.ts'
import type { TokenLogprob } from '../canonical/parts.ts'
import { parseTokens, wireTokens } from '../openai-logprobs.ts'
import type { WireLogprob } from './wire.ts'

/** `logprobs` of a choice. */
export const parseLogprobs = (logprobs: unknown): TokenLogprob[] | undefined =>
  isObject(logprobs) ? parseTokens(logprobs.content) : undefined

/** Tokens for a client, whose bytes are `null` where they are not known. */
export const wireLogprobs = (tokens: readonly TokenLogprob[]): WireLogprob[] => wireTokens(tokens, null)
