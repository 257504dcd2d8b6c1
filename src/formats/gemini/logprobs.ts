import { isObject } from '../../lib/json.ts'
import type { TokenLogprob } from '../canonical/parts.ts'
import type { WireLogprobs } from './wire.ts'

/** `logprobsResult` of a candidate. */
export function parseLogprobs(result: unknown): TokenLogprob[] | undefined {
  if (!isObject(result) || !Array.isArray(result.chosenCandidates)) return undefined
  const tops: unknown[] = Array.isArray(result.topCandidates) ? result.topCandidates : []
  const tokens = result.chosenCandidates.flatMap((chosen: unknown, index): TokenLogprob[] => {
    const top = tops[index]
    const others = isObject(top) && Array.isArray(top.candidates) ? top.candidates.flatMap(parseToken) : []
    return parseToken(chosen).map((token) => ({ ...token, top: others }))
  })
  return tokens.length > 0 ? tokens : undefined
}

function parseToken(entry: unknown): { token: string; logprob: number }[] {
  if (!isObject(entry) || typeof entry.token !== 'string' || typeof entry.logProbability !== 'number') return []
  return [{ token: entry.token, logprob: entry.logProbability }]
}

/** The reverse, for a client. */
export function wireLogprobs(tokens: readonly TokenLogprob[]): WireLogprobs {
  const chosenCandidates = tokens.map(wireToken)
  if (tokens.every(({ top }) => top.length === 0)) return { chosenCandidates }
  return { chosenCandidates, topCandidates: tokens.map(({ top }) => ({ candidates: top.map(wireToken) })) }
}

const wireToken = ({ token, logprob }: { token: string; logprob: number }) => ({ token, logProbability: logprob })
