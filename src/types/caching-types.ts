import type { Integer, IsoTime } from './plain-types.ts'

/** A caller whose requests to a target get no cache breakpoints for a while because they cost more than they saved. */
export interface CachingPause {
  /** The ID of the API key, or the account. Empty for requests without either. */
  caller: string
  connectionId: string
  provider: string
  model: string
  /** When one session gets breakpoints again. */
  until: IsoTime
  /** The savings over one hour in US dollars; always negative. */
  savedUsd: number
}

/** A session that reads little of its input from the provider's cache, although the gateway asks for it. */
export interface ColdSession {
  /** The ID of the API key, or the account. Empty for requests without either. */
  caller: string
  connectionId: string
  provider: string
  model: string
  requests: Integer
  /** The share of the input that was read from the cache, from the third request on. */
  readShare: number
  lastUsedAt: IsoTime
}

/**
 * Why the gateway adds no cache breakpoints. `client`: the client set its own. `short`: the prompt is too short to be cached. `single`: the prompt
 * may never be sent again. `unsupported`: the target supports none. `unprofitable`: they cost more than they saved. `rejected`: the target rejected
 * them. `hedge`: a hedged request would write the cache twice.
 */
export type CachingSkipReason = 'client' | 'short' | 'single' | 'unsupported' | 'unprofitable' | 'rejected' | 'hedge'
