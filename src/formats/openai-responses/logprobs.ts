import type { TokenLogprob } from '../canonical/parts.ts'
import type { WireLogprob } from './wire.ts'

/** Tokens for a client, who is promised bytes. */
export const wireLogprobs = (tokens: readonly TokenLogprob[]): WireLogprob[] =>
  tokens.map(({ top, ...token }) => ({ ...wireToken(token), top_logprobs: top.map(wireToken) }))

const wireToken = ({ token, logprob, bytes }: Omit<TokenLogprob, 'top'>) => ({ token, logprob, bytes: bytes ?? [] })
