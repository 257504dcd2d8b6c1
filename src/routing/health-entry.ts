import type { FailureClass } from './failure-class.ts'
import type { HealthRecord } from './health-records.ts'

/** The health of a provider, a connection, or a model on a connection that has failed lately (`GET /api/health`). */
export interface HealthEntry {
  level: 'provider' | 'connection' | 'model'
  provider: string
  connectionId?: string
  model?: string
  /** The combo whose own health terms it holds for; absent: for all other requests. */
  combo?: string
  /**
   * `counting`: has failed, and is still used; `cooling`: not used until `retryAt`; `half-open`: the next request is a probe; `probing`: a
   * probe is under way.
   */
  state: 'counting' | 'cooling' | 'half-open' | 'probing'
  /** The class of the last failure. */
  reason: FailureClass
  /** What the provider said with the last failure, or what happened. */
  message: string
  /** Consecutive failures. */
  failures: number
  /** When it first failed; ISO 8601. */
  since: string
  /** When the cooldown ends; ISO 8601. Absent while `counting`. */
  retryAt?: string
}

/** The public form of a health record, as it stands at `now` (epoch ms). */
export function healthEntry(record: HealthRecord, now: number): HealthEntry {
  const { level, provider, connectionId, model, combo, reason, message, failures, since, retryAt } = record
  return {
    level,
    provider,
    ...(connectionId !== undefined && { connectionId }),
    ...(model !== undefined && { model }),
    ...(combo !== undefined && { combo }),
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
