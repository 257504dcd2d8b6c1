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
  /** The provider's own word for it. */
  raw?: string
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
  /** Those of `cacheWriteTokens` that are kept for an hour, where the provider tells them apart. */
  cacheWrite1hTokens?: number
  reasoningTokens?: number
  /** Those of `inputTokens` and of `outputTokens` that are of images and of sound, where the provider tells them apart. */
  inputImageTokens?: number
  outputImageTokens?: number
  inputAudioTokens?: number
  outputAudioTokens?: number
  /** Units other than tokens that the provider charges for, such as searches. */
  units?: Readonly<Partial<Record<PricedUnit, number>>>
  /** Under which names an image among `units` may have a price of its own; the first that has one counts. */
  imageNames?: readonly string[]
  /** Is it a guess of the gateway's, as the provider has reported less? */
  isEstimated?: true
  /** What the provider says that it charges for all of this, in US dollars, where it says so. */
  costUsd?: number
}
