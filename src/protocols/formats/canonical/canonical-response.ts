import type { PricedUnit } from '../../../types.ts'
import type { AssistantPart } from './canonical-parts.ts'
import type { CanonicalRequest } from './canonical-request.ts'
import type { ResponseWarnings } from './canonical-warnings.ts'

/** A complete response in the canonical format. */
export interface CanonicalResponse {
  /** The provider's response ID. */
  id?: string
  /** The provider's name for the model. */
  model?: string
  /** Contains one choice unless the client requested several candidates. */
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
  /** The provider's own value. */
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
  | 'pause' // a provider-run tool hasn't finished yet
  | 'malformed-call'

/**
 * Determines the finish reason. If there are calls, it is `tool-calls`, whatever the provider reports, unless the response was truncated or filtered.
 */
export function resolveFinish(finish: Finish | undefined, hasToolCalls: boolean): Finish {
  const { reason = 'stop' } = finish ?? {}
  if (reason === 'stop' && hasToolCalls) return { ...finish, reason: 'tool-calls' }
  if (reason === 'tool-calls' && !hasToolCalls) return { ...finish, reason: 'stop' }
  return { ...finish, reason }
}

/** Warns about finish details that a format can't express: which of several stop sequences matched, and why the model refused. */
export function warnAboutFinish(
  { stopSequence, explanation }: Finish,
  { options }: CanonicalRequest,
  responseWarnings: ResponseWarnings,
): void {
  if (stopSequence !== undefined && options.stop && options.stop.length > 1)
    responseWarnings.recordDrop('stop_sequence')
  if (explanation !== undefined) responseWarnings.recordDrop('explanation')
}

/** Warns that clients will see a pause as a truncated response, in formats that have no value for a pause. */
export function warnAboutPause({ reason, raw = reason }: Finish, responseWarnings: ResponseWarnings): void {
  if (reason === 'pause') responseWarnings.recordReplacement(raw)
}

/** Token usage for one response. Input counts include cache reads and writes; output counts include reasoning. */
export interface TokenUsage {
  inputTokens: number
  outputTokens: number
  cacheReadTokens?: number
  cacheWriteTokens?: number
  /** The part of `cacheWriteTokens` that is cached for an hour or longer, if the provider reports it. */
  cacheWriteLongTokens?: number
  reasoningTokens?: number
  /** The image and audio parts of `inputTokens` and `outputTokens`, if the provider reports them. */
  inputImageTokens?: number
  outputImageTokens?: number
  inputAudioTokens?: number
  outputAudioTokens?: number
  /** Billable units other than tokens, such as searches. */
  units?: Readonly<Partial<Record<PricedUnit, number>>>
  /** Names under which an image in `units` may have its own price. The first one with a price counts. */
  imageNames?: readonly string[]
  /** Set if the gateway estimated counts that the provider didn't report. */
  isEstimated?: true
  /** The service tier that served the response, in lowercase, if it costs more than the model's regular price, or `flex`, which costs less. */
  serviceTier?: string
  /** The provider's own total in USD, if it reports one. */
  costUsd?: number
  /** Usage per model run, if the provider lists it. Billing uses these counts instead of the ones above. */
  iterations?: readonly Iteration[]
}

export interface Iteration extends Omit<TokenUsage, 'iterations'> {
  /** The provider's name for the model, if it may differ from the requested one. */
  model?: string
}
