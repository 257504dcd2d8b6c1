import type { Effort } from '../traits.ts'

/** How a combo orders its models, or a provider its connections, for one request (src/routing/README.md). */
export type Strategy =
  | 'fallback'
  | 'round-robin'
  | 'weighted'
  | 'random'
  | 'least-latency'
  | 'least-cost'
  | 'least-busy'
  | 'sticky'
  | 'conditional'

/**
 * An entry of a combo: a model name, or an object with one. `weight` is its share under `weighted` and `sticky`: 0 to 1,000, default 1; an
 * entry of weight 0 is tried after all others. An entry with `when` is left out for requests that do not meet the condition.
 * `voices` of an entry of speech: the provider's names of voices, by those that clients say. `params` of an entry of chat: see `EntryParams`.
 */
export type ComboModel =
  | string
  | { model: string; weight?: number; when?: Condition; voices?: Record<string, string>; params?: EntryParams }

/**
 * Parameters that an entry sets in requests to its targets, in place of the client's. Where a parameter is absent, the client's value stays. Where
 * combos are nested, the innermost entry that sets a parameter decides it. What a target cannot do is a loss of the request, as any other option is.
 */
export interface EntryParams {
  /** The most tokens of the answer, from 1 to 10,000,000. */
  maxTokens?: number
  /** 0 to 2. */
  temperature?: number
  /** 0 to 1. */
  topP?: number
  /** At least 1. */
  topK?: number
  /** 1 to 16 texts, each of 1 to 200 characters. */
  stopSequences?: string[]
  seed?: number
  /** -2 to 2. */
  presencePenalty?: number
  /** -2 to 2. */
  frequencyPenalty?: number
  /** How much the model reasons before it answers: `none`, `minimal`, `low`, `medium`, `high`, `xhigh` or `max`. */
  reasoning?: Effort
}

/**
 * An answer after which the next target is asked, as after a failure: `content`, one that a content filter has ended; `schema`, one that is not JSON
 * by the schema of the request.
 */
export type AnswerCondition = 'content' | 'schema'

/** A condition on a request. At least one part is given, and all given parts must hold. */
export interface Condition {
  /** The model name that the client sent, with `*` for any text; of a list, one must match. */
  model?: string | string[]
  /** Size of the request's body in bytes, both bounds included; at least one is given. */
  bytes?: { min?: number; max?: number }
  /** Does the request ask for a stream? */
  stream?: boolean
  /** Does the request declare tools? */
  tools?: boolean
  /** Does the request contain images? */
  images?: boolean
  /** By header name, in any case. */
  headers?: Record<string, Pattern>
  /** By member of the body's `metadata`; numbers and booleans are compared as text. */
  metadata?: Record<string, Pattern>
}

/** Text in which `*` stands for any text, or a list of such texts of which one must match; `true`: present, `false`: absent. Case matters. */
export type Pattern = string | string[] | boolean
