import type { Finish, TokenUsage } from './answer.ts'
import type { CanonicalError } from './errors.ts'
import type { AssistantPart, Citation, TokenLogprob } from './parts.ts'
import type { OpaqueState } from './state.ts'

export interface StartEvent {
  type: 'start'
  id?: string
  model?: string
  /** The tokens of the input, if they are known already. */
  usage?: TokenUsage
}

/**
 * Starts a part. Its `key` is 0, 1, 2 … in the order of starts; several parts may be open at once. Text, reasoning, refusals and the
 * arguments of a call start empty and continue in deltas; any other part is complete in its start.
 */
export interface PartStartEvent {
  type: 'part-start'
  key: number
  candidate: number
  part: AssistantPart
}

/** More of the part's text, or of its arguments. Never empty unless it has logprobs. */
interface PartDeltaEvent {
  type: 'part-delta'
  key: number
  text: string
  logprobs?: TokenLogprob[]
}

/** The opaque state of an open part, whole. */
interface PartStateEvent {
  type: 'part-state'
  key: number
  state: OpaqueState
}

interface PartCitationEvent {
  type: 'part-citation'
  key: number
  citation: Citation
}

interface PartEndEvent {
  type: 'part-end'
  key: number
}

interface ErrorEvent {
  type: 'error'
  error: CanonicalError
  /** Tokens used so far, if known. */
  usage?: TokenUsage
}

/** The answer is complete: one `Finish` a candidate. */
export interface EndEvent {
  type: 'end'
  finishes: Finish[]
  usage?: TokenUsage
}

/** The events of parts, which name them by their keys. */
export type PartEvent = PartStartEvent | PartDeltaEvent | PartStateEvent | PartCitationEvent | PartEndEvent

/**
 * The events of a stream reader, in the provider's order: usage before, with or after the finish, either of them twice, parts left open.
 * `done` is the provider's end mark. `createSequence` turns them into `StreamEvent`s.
 */
export type ReaderEvent =
  | StartEvent
  | PartEvent
  | { type: 'finish'; candidate: number; finish: Finish }
  | { type: 'usage'; usage: TokenUsage }
  | ErrorEvent
  | { type: 'unreadable' } // an event that is no JSON: part of the answer may be lost
  | { type: 'done' }

/**
 * The events for a stream writer: one `start`; parts, each of which ends; then exactly one `end` or `error`. Nothing follows an error, and
 * parts may still be open.
 */
export type StreamEvent = StartEvent | PartEvent | EndEvent | ErrorEvent
