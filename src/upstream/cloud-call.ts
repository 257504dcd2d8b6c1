import type { UpstreamCall, UpstreamFetch } from '../lib/exchange.ts'
import { once } from '../lib/once.ts'
import type { Target } from '../providers/target.ts'
import type { Clock, Cloud } from '../types.ts'
import type { Ask } from './request.ts'

/** A target in a cloud, and what it takes to call it. */
export interface CloudTarget {
  cloud: Cloud
  target: Target
  apiKey: string | undefined
  /** For clouds where a credential has to be exchanged first. */
  fetch: UpstreamFetch
}

/** The call to a target in a cloud. Throws `UPSTREAM_CREDENTIALS` when the connection's settings or its credential do not do. */
export type CloudCall = (ask: Ask, target: CloudTarget) => Promise<UpstreamCall>

/** Knows the clouds from the first call to one of them on. */
export function createCloudCall(clock: Clock): CloudCall {
  const load = once(async () => (await import('./clouds/calls.ts')).createCloudCalls(clock))
  return async (ask, target) => (await load())(ask, target)
}
