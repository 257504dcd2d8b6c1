import { decodeUtf8, fromBase64 } from '../../../lib/bytes.ts'
import { isObject } from '../../../lib/json.ts'
import { getEntry } from '../../../lib/maps.ts'
import type { TokenLogprob } from '../canonical/canonical-parts.ts'
import type { Finish, FinishReason, TokenUsage } from '../canonical/canonical-response.ts'
import { omitUndefined } from '../canonical/canonical-values.ts'
import type { WireFinish, WireLogprobs, WireUsage } from './gemini-wire.ts'

/** Decodes the text in a `bytes` field, which is base64 in either alphabet. Returns `undefined` if it isn't valid base64 or UTF-8. */
export function decodeBase64Text(base64: string): string | undefined {
  try {
    return decodeUtf8(fromBase64(base64.replaceAll('-', '+').replaceAll('_', '/')))
  } catch {
    return undefined
  }
}

/** Parses how a candidate finished. Returns `undefined` if it hasn't. Tool calls are recognized by the content, because their reason is also STOP. */
export function parseFinish(reason: unknown, explanation?: unknown): Finish | undefined {
  const name = typeof reason === 'number' ? FINISH_REASONS_BY_NUMBER[reason] : reason
  if (typeof name !== 'string' || name === '' || isUnspecifiedReason(name)) return undefined
  const knownReason = finishReasons.get(name) ?? 'stop'
  const hasExplanation = knownReason === 'content-filter' || knownReason === 'malformed-call'
  return omitUndefined<Finish>({
    reason: knownReason,
    raw: name,
    explanation: hasExplanation && typeof explanation === 'string' && explanation !== '' ? explanation : undefined,
  })
}

/** Returns whether the reason is unspecified. Some Google proxies send this instead of no reason, in every chunk or only in the last one. */
export const isUnspecifiedReason = (reason: unknown): boolean => reason === 'FINISH_REASON_UNSPECIFIED'

/** Parses the finish for a blocked prompt. Its response has no candidates, only `promptFeedback`. */
export function parseBlockedPrompt(blockReason: unknown, message: unknown): Finish | undefined {
  if (typeof blockReason !== 'string' || blockReason === 'BLOCKED_REASON_UNSPECIFIED') return undefined
  return {
    reason: 'content-filter',
    explanation: typeof message === 'string' && message !== '' ? message : blockReason,
  }
}

const finishReasons = new Map<string, FinishReason>(
  Object.entries({
    STOP: 'stop',
    MAX_TOKENS: 'length',
    SAFETY: 'content-filter',
    RECITATION: 'content-filter',
    LANGUAGE: 'content-filter',
    OTHER: 'content-filter', // a reason without details, for an incomplete response
    BLOCKLIST: 'content-filter',
    PROHIBITED_CONTENT: 'content-filter',
    SPII: 'content-filter',
    MODEL_ARMOR: 'content-filter',
    IMAGE_SAFETY: 'content-filter',
    IMAGE_PROHIBITED_CONTENT: 'content-filter',
    IMAGE_RECITATION: 'content-filter',
    IMAGE_OTHER: 'content-filter',
    CONTINUATION: 'pause',
    MALFORMED_FUNCTION_CALL: 'malformed-call',
    MALFORMED_RESPONSE: 'malformed-call',
    UNEXPECTED_TOOL_CALL: 'malformed-call',
    TOO_MANY_TOOL_CALLS: 'malformed-call',
    MISSING_THOUGHT_SIGNATURE: 'malformed-call',
  } satisfies Record<string, FinishReason>),
)

/** The reasons by number, for clients that request numeric enums. The first five are the same in all versions of the API. */
const FINISH_REASONS_BY_NUMBER = ['FINISH_REASON_UNSPECIFIED', 'STOP', 'MAX_TOKENS', 'SAFETY', 'RECITATION', 'OTHER']

/** Writes `finishReason` for a client. */
export const writeFinishReason = (reason: FinishReason): WireFinish => wireFinishReasons[reason]

const wireFinishReasons: Readonly<Record<FinishReason, WireFinish>> = {
  stop: 'STOP',
  'stop-sequence': 'STOP',
  'tool-calls': 'STOP',
  length: 'MAX_TOKENS',
  'context-window': 'MAX_TOKENS',
  'content-filter': 'SAFETY',
  pause: 'CONTINUATION',
  'malformed-call': 'MALFORMED_FUNCTION_CALL',
}

/** Parses the service tier. The Gemini API names it directly, and Vertex puts it in the traffic type. */
export function parseServedTier(usage: unknown): string | undefined {
  if (!isObject(usage)) return undefined
  const { serviceTier, trafficType } = usage
  if (typeof serviceTier === 'string') return serviceTier === 'standard' ? 'default' : serviceTier
  return typeof trafficType === 'string' ? getEntry(tiers, trafficType) : undefined
}

const tiers: Readonly<Record<string, string>> = { ON_DEMAND_FLEX: 'flex', ON_DEMAND_PRIORITY: 'priority' }

/** Writes token usage for a client. */
export function writeUsage({ inputTokens, outputTokens, cacheReadTokens, reasoningTokens = 0 }: TokenUsage): WireUsage {
  const thoughtsTokenCount = Math.min(reasoningTokens, outputTokens)
  return {
    promptTokenCount: inputTokens,
    ...(cacheReadTokens && { cachedContentTokenCount: cacheReadTokens }),
    candidatesTokenCount: outputTokens - thoughtsTokenCount,
    ...(thoughtsTokenCount > 0 && { thoughtsTokenCount }),
    totalTokenCount: inputTokens + outputTokens,
  }
}

/** Parses a candidate's `logprobsResult`. */
export function parseLogprobs(result: unknown): TokenLogprob[] | undefined {
  if (!isObject(result) || !Array.isArray(result.chosenCandidates)) return undefined
  const topCandidates: unknown[] = Array.isArray(result.topCandidates) ? result.topCandidates : []
  const tokens = result.chosenCandidates.flatMap((chosen: unknown, index): TokenLogprob[] => {
    const top = topCandidates[index]
    const topLogprobs = isObject(top) && Array.isArray(top.candidates) ? top.candidates.flatMap(parseToken) : []
    return parseToken(chosen).map((token) => ({ ...token, topLogprobs }))
  })
  return tokens.length > 0 ? tokens : undefined
}

function parseToken(entry: unknown): { token: string; logprob: number }[] {
  if (!isObject(entry) || typeof entry.token !== 'string' || typeof entry.logProbability !== 'number') return []
  return [{ token: entry.token, logprob: entry.logProbability }]
}

/** Writes `logprobsResult` for a client. */
export function writeLogprobs(tokens: readonly TokenLogprob[]): WireLogprobs {
  const chosenCandidates = tokens.map(writeToken)
  if (tokens.every(({ topLogprobs }) => topLogprobs.length === 0)) return { chosenCandidates }
  return {
    chosenCandidates,
    topCandidates: tokens.map(({ topLogprobs }) => ({ candidates: topLogprobs.map(writeToken) })),
  }
}

const writeToken = ({ token, logprob }: { token: string; logprob: number }) => ({ token, logProbability: logprob })
