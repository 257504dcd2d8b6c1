import type { Effort } from '../traits.ts'
import type { PromptCaching } from './records/caching-fields.ts'

/** How a combo orders its models for a request, or a provider its connections (docs/src/content/docs/reference/combos-and-strategies.md). */
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
 * A combo entry: a model name, or an object with one.
 * - `weight`: its share under `weighted` and `sticky`, 0 to 1,000, default 1. Entries with weight 0 are tried last.
 * - `when`: skips the entry for requests that don't match the condition.
 * - `where`: the tags that connections must have to be used for the entry.
 * - `voices`, for speech: the provider's voice names by the names that clients send.
 * - `params`, for chat: see `EntryParams`.
 * - `promptCaching`, for chat: whether the gateway asks the entry's targets to cache prompts; default: the connection's.
 */
export type ComboModel =
  | string
  | {
      model: string
      weight?: number
      when?: Condition
      where?: DataTags
      voices?: Record<string, string>
      params?: EntryParams
      promptCaching?: PromptCaching
    }

/**
 * Facts about how a connection's account handles data, such as `{ region: 'eu', zdr: true, training: false }`, or the facts that a request requires.
 * Operators choose the names and values; they aren't verified.
 */
export type DataTags = Record<string, string | boolean>

/**
 * Parameters that override the client's values in requests to this entry's targets; omitted parameters keep the client's values. In nested combos,
 * the innermost entry that sets a parameter wins. Parameters that a target doesn't support are dropped with a warning.
 */
export interface EntryParams {
  /** Maximum output tokens, 1 to 10,000,000. */
  maxTokens?: number
  /** The sampling temperature, 0 to 2. */
  temperature?: number
  /** The nucleus sampling threshold, 0 to 1. */
  topP?: number
  /** The number of top tokens to sample from, at least 1. */
  topK?: number
  /** Strings that end the response: 1 to 16 strings of 1 to 200 characters. */
  stopSequences?: string[]
  seed?: number
  /** The presence penalty, -2 to 2. */
  presencePenalty?: number
  /** The frequency penalty, -2 to 2. */
  frequencyPenalty?: number
  /** Reasoning effort: `none`, `minimal`, `low`, `medium`, `high`, `xhigh`, or `max`. */
  reasoning?: Effort
}

/**
 * A response after which the next target is tried, as after a failure. `content`: a content filter cut it off. `schema`: it isn't JSON that matches
 * the request's schema. `refused`: a guard rejects it. `function`: a function defined in code (docs/src/content/docs/guides/configure-in-code.md)
 * rejects it; it can only be set there.
 */
export type ResponseCondition = 'content' | 'schema' | 'refused' | 'function'

/** A condition on a request. At least one part is required, and all specified parts must match. */
export interface Condition {
  /** The model name from the request; `*` matches any text. In a list, one pattern must match. */
  model?: string | string[]
  /** Size of the request body in bytes, inclusive; at least one bound is required. */
  bytes?: { min?: number; max?: number }
  /** Whether the client requested a stream. */
  stream?: boolean
  /** Whether the request declares tools. */
  tools?: boolean
  /** Whether the request contains images. */
  images?: boolean
  /** Patterns by header name, which is case-insensitive. */
  headers?: Record<string, Pattern>
  /** Patterns by field of the body's `metadata`; numbers and booleans are compared as strings. */
  metadata?: Record<string, Pattern>
  /**
   * Set if the condition is a function defined in code (docs/src/content/docs/guides/configure-in-code.md): its number in the configuration. It can
   * only be set there.
   */
  function?: number
}

/**
 * A case-sensitive string in which `*` matches any text, or a list of such strings, one of which must match. `true` means that the value is present,
 * and `false` that it is absent.
 */
export type Pattern = string | string[] | boolean
