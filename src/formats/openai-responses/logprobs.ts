import type { TokenLogprob } from '../canonical/parts.ts'
import { wireTokens } from '../openai-logprobs.ts'
import type { WireLogprob } from './wire.ts'

/** Tokens for a client, who is promised bytes. */
export const wireLogprobs = (tokens: readonly TokenLogprob[]): WireLogprob[] => wireTokens(tokens, [])
