import { isObject } from '../lib/json.ts'
import type { TokenLogprob } from './canonical/parts.ts'

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

function parseToken(entry: unknown): Omit<TokenLogprob, 'top'> | undefined {
  if (!isObject(entry) || typeof entry.token !== 'string' || typeof entry.logprob !== 'number') return undefined
  const bytes = Array.isArray(entry.bytes) ? entry.bytes.filter((byte) => typeof byte === 'number') : null
  return { token: entry.token, logprob: entry.logprob, bytes }
}
