import type { CanonicalError } from './canonical-errors.ts'
import type { AssistantPart, Citation, TokenLogprob } from './canonical-parts.ts'
import type { Finish, TokenUsage } from './canonical-response.ts'
import type { OpaqueState } from './canonical-state.ts'

export interface StartEvent {
  type: 'start'
  id?: string
  model?: string
  /** The input tokens, if they are already known. */
  usage?: TokenUsage
}

/**
 * Starts a part. Keys count up from 0 in start order. Several parts may be open concurrently. Text, reasoning, refusals, and call arguments start
 * empty and continue in deltas. All other parts are complete when they start.
 */
export interface PartStartEvent {
  type: 'part-start'
  key: number
  candidate: number
  part: AssistantPart
}

/** More of the part's text or arguments. Never empty unless it has logprobs. */
export interface PartDeltaEvent {
  type: 'part-delta'
  key: number
  text: string
  logprobs?: TokenLogprob[]
}

/** The complete opaque state of an open part. */
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

/** The response is complete. There is one `Finish` for each candidate. */
export interface EndEvent {
  type: 'end'
  finishes: Finish[]
  usage?: TokenUsage
}

/** The events that refer to a part by its key. */
export type PartEvent = PartStartEvent | PartDeltaEvent | PartStateEvent | PartCitationEvent | PartEndEvent

/**
 * The events that a stream reader emits, in the provider's order. Usage may come before, with, or after the finish. Both may come twice, and parts
 * may stay open. `done` is the provider's end marker. `createEventSequencer` turns these events into `StreamEvent`s.
 */
export type ReaderEvent =
  | StartEvent
  | PartEvent
  | { type: 'finish'; candidate: number; finish: Finish }
  | { type: 'usage'; usage: TokenUsage }
  | ErrorEvent
  | { type: 'unreadable' } // an event that isn't JSON, so part of the response may be missing
  | { type: 'done' }

/**
 * The events that a stream writer receives: one `start`, then the parts, then exactly one `end` or `error`. Every part ends, unless an error comes
 * first. Nothing follows an error.
 */
export type StreamEvent = StartEvent | PartEvent | EndEvent | ErrorEvent
