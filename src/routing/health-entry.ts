import type { FailureClass } from './failure-class.ts'
import type { HealthRecord } from './health-records.ts'

/** Something that is not well, as operators see it. */
export interface HealthEntry {
  level: 'provider' | 'connection' | 'model'
  provider: string
  connectionId?: string
  model?: string
  /** `counting`: still used; `cooling`: left alone until `retryAt`; `half-open`: the next request is the probe; `probing`: it is under way. */
  state: 'counting' | 'cooling' | 'half-open' | 'probing'
  /** Of the last failure, with what the provider said. */
  reason: FailureClass
  message: string
  /** In a row. */
  failures: number
  /** ISO 8601. */
  since: string
  retryAt?: string
}

/** What is held against a target, as it stands at `now` (epoch ms). */
export function healthEntry(record: HealthRecord, now: number): HealthEntry {
  const { level, provider, connectionId, model, reason, message, failures, since, retryAt } = record
  return {
    level,
    provider,
    ...(connectionId !== undefined && { connectionId }),
    ...(model !== undefined && { model }),
    state: stateOf(record, now),
    reason,
    message,
    failures,
    since: new Date(since).toISOString(),
    ...(retryAt !== undefined && { retryAt: new Date(retryAt).toISOString() }),
  }
}

function stateOf({ retryAt, probing }: HealthRecord, now: number): HealthEntry['state'] {
  if (retryAt === undefined) return 'counting'
  if (probing) return 'probing'
  return retryAt <= now ? 'half-open' : 'cooling'
}
