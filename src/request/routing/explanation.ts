import type { CachingSkipReason } from '../../types/caching-types.ts'
import type { Integer } from '../../types/plain-types.ts'
import type { EntryParams, PriceOrigin, ResponseCondition } from '../../types.ts'

/** How a request would be routed right now (`POST /api/explain`). */
export interface Explanation {
  /** The request's model name. */
  model: string
  /** The `route` function's decision. Absent if there is none. */
  route?: RouteDecision
  /** All targets that the name resolves to, starting with the ones that would be called, in order. */
  targets: ExplainedTarget[]
  /** Combo entries that are excluded for this request. */
  leftOut: SkippedEntry[]
  /** The error that the client would get if no target can be called. */
  error?: { status: Integer; code: string; message: string }
}

/** The `route` function's decision. Empty if it returned nothing, so the request is routed as usual. */
export interface RouteDecision {
  /** The models, aliases, or combos that `route` returned, which replace the requested name. */
  models?: string[]
  /** Why `route` failed. */
  error?: string
}

/** A target that a name resolves to, and how it would be used. */
export interface ExplainedTarget {
  provider: string
  model: string
  connectionId: string
  /** The connection's name. */
  connection: string
  /**
   * `first`: called first. `next`: called in this order if the previous ones fail. `beyond`: not called because the attempts run out first.
   * `last-resort`: called despite its cooldown because no other target is left. `skipped`: not called.
   */
  use: 'first' | 'next' | 'beyond' | 'last-resort' | 'skipped'
  /** The reason for its position, or for skipping it. */
  why: string
  /** The response conditions that make the gateway try the next target. */
  on?: ResponseCondition[]
  /** Parameters that combo entries set in requests to this target. */
  params?: EntryParams
  /** Where its price comes from. Absent if its price is unknown. */
  price?: PriceOrigin
  /** How the gateway would ask the target to cache the prompt. Absent without `promptCaching`, and for a request without content. */
  promptCaching?: CacheExplanation
  /** The combos and providers that led here, each with its strategy: `pool:round-robin>inner:weighted`. */
  via?: string
}

/** How the gateway would ask a target to cache a prompt. */
export interface CacheExplanation {
  /** Where cache breakpoints would be in the request to the provider, such as `tools[3]` or `messages[4].content[0]`. */
  marks: string[]
  /** The field or header that would contain the session, such as `prompt_cache_key` or `x-session-id`. */
  session?: string
  /** Why the request would have no breakpoints. */
  stoodDown?: CachingSkipReason
}

/** A combo entry that is excluded. */
export interface SkippedEntry {
  combo: string
  model: string
  /**
   * The first part of its `when` that the request doesn't match, or `function` for a function defined in code; `unreachable` if its name doesn't
   * resolve to an active connection, alias, or combo.
   */
  unmet: string
}
