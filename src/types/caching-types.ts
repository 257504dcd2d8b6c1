import type { Integer, IsoTime } from './plain-types.ts'

/** A caller that temporarily gets no cache breakpoints for a target, because the breakpoints cost more than they saved. */
export interface CachingPause {
  /** The ID of the API key, or the account. Empty for requests without either. */
  caller: string
  connectionId: string
  provider: string
  model: string
  /** When one session may get breakpoints again, to test whether they pay off. */
  until: IsoTime
  /** The savings over one hour in US dollars; always negative. */
  savedUsd: number
}

/** A session that reads little of its input from the provider's cache, although the gateway requests caching. */
export interface ColdSession {
  /** The ID of the API key, or the account. Empty for requests without either. */
  caller: string
  connectionId: string
  provider: string
  model: string
  requests: Integer
  /** The share of input read from the cache, starting with the third request. */
  readShare: number
  lastUsedAt: IsoTime
}

/**
 * Why the gateway adds no cache breakpoints. `client`: the client set its own. `short`: the prompt is too short to be cached. `single`: the prompt
 * may never be sent again. `unsupported`: the target supports none. `unprofitable`: they cost more than they saved. `rejected`: the target rejected
 * them. `hedge`: a hedged request would write the cache twice.
 */
export type CachingSkipReason = 'client' | 'short' | 'single' | 'unsupported' | 'unprofitable' | 'rejected' | 'hedge'
