import type { AssistantPart, CacheMark, OwnForm, TextPart, ToolResultContent, UserPart } from './parts.ts'

/**
 * Instructions. A run of them at the start is what formats keep in a field of their own; `instructions` came from such a field, the
 * others were messages, wherever they stood.
 */
export interface SystemTurn {
  role: 'system'
  as: 'instructions' | 'system' | 'developer'
  content: TextPart[]
  name?: string
}

export interface UserTurn {
  role: 'user'
  content: UserPart[]
  name?: string
}

/** All that the model says between two turns of others, in its order. */
export interface AssistantTurn {
  role: 'assistant'
  content: AssistantPart[]
  name?: string
}

/** The results of the calls in the assistant's turn before. User content that comes with them is a user turn behind it. */
export interface ToolTurn {
  role: 'tool'
  results: ToolResult[]
}

export interface ToolResult {
  callId: string
  /** Of the tool; found by the call where the format does not say it. */
  name?: string
  content: ToolResultContent[]
  isError?: true
  isFreeForm?: true
  cache?: CacheMark
  own?: OwnForm
}

export type Turn = SystemTurn | UserTurn | AssistantTurn | ToolTurn
