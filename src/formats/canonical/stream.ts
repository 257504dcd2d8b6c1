import type { Finish } from './answer.ts'
import type { Citation } from './citations.ts'
import type { CanonicalError } from './errors.ts'
import type { AssistantPart, TokenLogprob } from './parts.ts'
import type { OpaqueState } from './state.ts'
import type { TokenUsage } from './usage.ts'

export interface StartEvent {
  type: 'start'
  id?: string
  model?: string
  /** What is known of the input so far. */
  usage?: TokenUsage
}

/**
 * Opens a part. `key` names it from here on: 0, 1, 2 … in the order of their starts; several may be open at once. A text, a thought, a
 * refusal and the arguments of a call start empty and come by deltas; every other part is complete in its start.
 */
export interface PartStartEvent {
  type: 'part-start'
  key: number
  candidate: number
  part: AssistantPart
}

/** More of the part's text, or of its arguments. Never empty unless it has logprobs. */
export interface PartDeltaEvent {
  type: 'part-delta'
  key: number
  text: string
  logprobs?: TokenLogprob[]
}

/** The opaque state of an open part, whole. */
export interface PartStateEvent {
  type: 'part-state'
  key: number
  state: OpaqueState
}

export interface PartCitationEvent {
  type: 'part-citation'
  key: number
  citation: Citation
}

export interface PartEndEvent {
  type: 'part-end'
  key: number
}

export interface ErrorEvent {
  type: 'error'
  error: CanonicalError
  /** Of what was said before, where it is known. */
  usage?: TokenUsage
}

/** The answer is complete: one `Finish` a candidate. */
export interface EndEvent {
  type: 'end'
  finishes: Finish[]
  usage?: TokenUsage
}

type PartEvent = PartStartEvent | PartDeltaEvent | PartStateEvent | PartCitationEvent | PartEndEvent

/**
 * What a stream reader tells, in the order in which its provider happens to say it: usage before, with or after the finish, either of them
 * twice, parts left open. `done` is the provider's own end mark. `createSequence` makes `StreamEvent`s of them.
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
 * What a stream writer is told: one `start`; parts, each of which ends; then exactly one `end` or `error`. After an error nothing follows, and
 * parts may be open.
 */
export type StreamEvent = StartEvent | PartEvent | EndEvent | ErrorEvent
