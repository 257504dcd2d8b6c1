import type { AssistantPart } from './parts.ts'
import type { TokenUsage } from './usage.ts'

/** A whole answer in no format. */
export interface Answer {
  /** The provider's own. */
  id?: string
  /** The name by which the provider calls the model. */
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
  /** The one that ended the text, where the provider says so. */
  stopSequence?: string
  /** Why it was refused, in the provider's words. */
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
 * The reason to tell: a tool call shows in the content, whatever the provider says of the end; one that was cut or filtered stays so.
 */
export function settleFinish(finish: Finish | undefined, hasToolCalls: boolean): Finish {
  const { reason = 'stop' } = finish ?? {}
  if (reason === 'stop' && hasToolCalls) return { ...finish, reason: 'tool-calls' }
  if (reason === 'tool-calls' && !hasToolCalls) return { ...finish, reason: 'stop' }
  return { ...finish, reason }
}
