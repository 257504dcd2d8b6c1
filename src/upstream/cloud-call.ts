import type { UpstreamCall, UpstreamFetch } from '../lib/exchange.ts'
import { once } from '../lib/once.ts'
import type { Target } from '../providers/target.ts'
import type { Clock, Cloud } from '../types.ts'
import type { Ask } from './request.ts'

/** A target in a cloud, with what is needed to call it. */
export interface CloudTarget {
  cloud: Cloud
  target: Target
  apiKey: string | undefined
  /** For clouds that exchange the credential for a token. */
  fetch: UpstreamFetch
}

/**
 * Makes the call to a target in a cloud. Rejects with `UPSTREAM_CREDENTIALS` when the connection's settings or credential are not usable.
 */
export type CloudCall = (ask: Ask, target: CloudTarget) => Promise<UpstreamCall>

/** Loads the code for clouds with the first call to one. */
export function createCloudCall(clock: Clock): CloudCall {
  const load = once(async () => (await import('./clouds/calls.ts')).createCloudCalls(clock))
  return async (ask, target) => (await load())(ask, target)
}
