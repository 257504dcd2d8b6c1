import { isObject } from '../lib/json.ts'
import type { TokenLogprob } from './canonical/parts.ts'

type Token = Omit<TokenLogprob, 'top'>

/** A list of tokens with their probabilities, as both formats of OpenAI have it; `undefined` when it holds none. */
export function parseTokens(list: unknown): TokenLogprob[] | undefined {
  if (!Array.isArray(list) || list.length === 0) return undefined
  const tokens = list.flatMap((entry: unknown): TokenLogprob[] => {
    const token = parseToken(entry)
    if (!token || !isObject(entry)) return []
    const top = Array.isArray(entry.top_logprobs) ? entry.top_logprobs.flatMap((other) => parseToken(other) ?? []) : []
    return [{ ...token, top }]
  })
  return tokens.length > 0 ? tokens : undefined
}

function parseToken(entry: unknown): Token | undefined {
  if (!isObject(entry) || typeof entry.token !== 'string' || typeof entry.logprob !== 'number') return undefined
  const bytes = Array.isArray(entry.bytes) ? entry.bytes.filter((byte) => typeof byte === 'number') : null
  return { token: entry.token, logprob: entry.logprob, bytes }
}

/** The same for a client, with `unknown` where the bytes of a token are not known. */
export function wireTokens<Unknown>(tokens: readonly TokenLogprob[], unknown: Unknown) {
  const wireToken = ({ token, logprob, bytes }: Token) => ({ token, logprob, bytes: bytes ?? unknown })
  return tokens.map(({ top, ...token }) => ({ ...wireToken(token), top_logprobs: top.map(wireToken) }))
}
