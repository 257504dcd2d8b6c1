import type { PricedUnit } from '../../types.ts'
import type { AssistantPart } from './parts.ts'
import type { CanonicalRequest } from './request.ts'
import type { ResponseWarnings } from './warnings.ts'

/** A whole answer in the canonical form. */
export interface Answer {
  /** The provider's id. */
  id?: string
  /** The provider's name of the model. */
  model?: string
  /** One, unless the client asked for several candidates. */
  choices: Choice[]
  usage?: TokenUsage
  serviceTier?: string
}

export interface Choice {
  content: AssistantPart[]
  finish: Finish
}

export interface Finish {
  reason: FinishReason
  /** The stop sequence that ended the text, if the provider names it. */
  stopSequence?: string
  /** The provider's explanation of a refusal. */
  explanation?: string
}

export type FinishReason =
  | 'stop'
  | 'stop-sequence'
  | 'tool-calls'
  | 'length'
  | 'context-window'
  | 'content-filter'
  | 'pause' // a tool that runs at the provider has not finished
  | 'malformed-call'

/**
 * The finish reason for the client: `tool-calls` when there are calls, whatever the provider reports, unless the answer was truncated or filtered.
 */
export function settleFinish(finish: Finish | undefined, hasToolCalls: boolean): Finish {
  const { reason = 'stop' } = finish ?? {}
  if (reason === 'stop' && hasToolCalls) return { ...finish, reason: 'tool-calls' }
  if (reason === 'tool-calls' && !hasToolCalls) return { ...finish, reason: 'stop' }
  return { ...finish, reason }
}

/** Warns of facts about the end that a format cannot express: which of several stop sequences matched, and the explanation of a refusal. */
export function warnOfLostEnd(
  { stopSequence, explanation }: Finish,
  { options }: CanonicalRequest,
  responseWarnings: ResponseWarnings,
): void {
  if (stopSequence !== undefined && options.stop && options.stop.length > 1)
    responseWarnings.noteDropped('stop_sequence')
  if (explanation !== undefined) responseWarnings.noteDropped('explanation')
}

/** Tokens of one answer. Input counts include what was read from or written to a cache, output counts include reasoning. */
export interface TokenUsage {
  inputTokens: number
  outputTokens: number
  cacheReadTokens?: number
  cacheWriteTokens?: number
  reasoningTokens?: number
  /** What the provider charges for besides tokens, such as searches. */
  units?: Readonly<Partial<Record<PricedUnit, number>>>
}

/** The usage of two answers together; where one of them is missing, that of the other. */
export function sumOf(one: TokenUsage | undefined, other: TokenUsage | undefined): TokenUsage | undefined {
  if (!one || !other) return one ?? other
  const sum = (name: Exclude<keyof TokenUsage, 'units'>) => (one[name] ?? 0) + (other[name] ?? 0)
  const units = sumOfUnits(one.units, other.units)
  return {
    inputTokens: sum('inputTokens'),
    outputTokens: sum('outputTokens'),
    cacheReadTokens: sum('cacheReadTokens'),
    cacheWriteTokens: sum('cacheWriteTokens'),
    reasoningTokens: sum('reasoningTokens'),
    ...(units && { units }),
  }
}

function sumOfUnits(one: TokenUsage['units'], other: TokenUsage['units']): TokenUsage['units'] {
  if (!one || !other) return one ?? other
  const sum = { ...one }
  for (const [unit, count] of Object.entries(other) as Array<[PricedUnit, number]>) // an object has no other keys
    sum[unit] = (sum[unit] ?? 0) + count
  return sum
}
