import type { AssistantPart } from './parts.ts'
import type { TokenUsage } from './usage.ts'

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
  | 'pause' // a tool of the provider's own is still at work
  | 'malformed-call'

/**
 * The finish reason for the client: `tool-calls` when there are calls, whatever the provider says, unless the answer was cut or filtered.
 */
export function settleFinish(finish: Finish | undefined, hasToolCalls: boolean): Finish {
  const { reason = 'stop' } = finish ?? {}
  if (reason === 'stop' && hasToolCalls) return { ...finish, reason: 'tool-calls' }
  if (reason === 'tool-calls' && !hasToolCalls) return { ...finish, reason: 'stop' }
  return { ...finish, reason }
}
