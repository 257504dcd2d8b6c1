import { isObject } from '../../lib/json.ts'
import type { TokenLogprob } from '../canonical/parts.ts'
import type { WireLogprob } from './wire.ts'

/** `logprobs` of a text or of a delta. */
export function parseLogprobs(logprobs: unknown): TokenLogprob[] | undefined {
  if (!Array.isArray(logprobs) || logprobs.length === 0) return undefined
  const tokens = logprobs.flatMap((entry: unknown): TokenLogprob[] => {
    const token = parseToken(entry)
    if (!token || !isObject(entry)) return []
    const top = Array.isArray(entry.top_logprobs) ? entry.top_logprobs.flatMap((other) => parseToken(other) ?? []) : []
    return [{ ...token, top }]
  })
  return tokens.length > 0 ? tokens : undefined
}

function parseToken(entry: unknown): Omit<TokenLogprob, 'top'> | undefined {
  if (!isObject(entry) || typeof entry.token !== 'string' || typeof entry.logprob !== 'number') return undefined
  const bytes = Array.isArray(entry.bytes) ? entry.bytes.filter((byte) => typeof byte === 'number') : null
  return { token: entry.token, logprob: entry.logprob, bytes }
}

/** Tokens for a client, who is promised bytes. */
export const wireLogprobs = (tokens: readonly TokenLogprob[]): WireLogprob[] =>
  tokens.map(({ top, ...token }) => ({ ...wireToken(token), top_logprobs: top.map(wireToken) }))

const wireToken = ({ token, logprob, bytes }: Omit<TokenLogprob, 'top'>) => ({ token, logprob, bytes: bytes ?? [] })
