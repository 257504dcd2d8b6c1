import type { HealthEntry } from '../routing/health-entry.ts'
import type { SettingsStore } from '../store/settings.ts'
import type { WritableStore } from '../store/writable-store.ts'
import type { Clock } from '../types.ts'
import type { KeptRequest } from '../usage/kept/record.ts'
import type { KeptUsage } from '../usage/kept/usage.ts'
import type { CloudOperations } from './cloud.ts'
import type { HealthOperations } from './health.ts'
import type { UsageOperations, UsageSummary } from './usage.ts'

/** What whoever runs the gateway should see first. */
export interface Overview {
  /**
   * Sums of this hour and the 23 before it, by the hour, and of the time of the same length before, as `usage.summary` gives them. Absent where
   * no usage is kept.
   */
  usage?: UsageSummary
  /** Of the latest 100 requests the first five that failed, were cut or were refused, the newest first. */
  failures: KeptRequest[]
  /** What has failed lately, as in `health.list`. */
  health: HealthEntry[]
  /** How many records of the storage are damaged. */
  damaged: number
  counts: { keys: number; connections: number }
  /** Must requests have a key? */
  requireApiKey: boolean
  /** Why the last exchange with the cloud proxy failed; absent when it did not, and while cloud mode is off. */
  mirrorError?: string
}

const HOUR_MS = 60 * 60 * 1_000
const MOST_FAILURES = 5

export function createOverview({
  kept,
  usage,
  health,
  cloud,
  store,
  clock,
}: {
  kept: KeptUsage | undefined
  usage: UsageOperations<unknown>
  health: Pick<HealthOperations, 'list'>
  cloud: Pick<CloudOperations, 'get'>
  store: Pick<WritableStore, 'keys' | 'connections'> & { settings: Pick<SettingsStore, 'read'> }
  clock: Clock
}) {
  return async (): Promise<Overview> => {
    const from = new Date(Math.floor(clock.now() / HOUR_MS) * HOUR_MS - 23 * HOUR_MS).toISOString()
    const [summary, { requests }, ill, mirror, settings, keys, connections] = await Promise.all([
      kept && usage.summary({ from, by: 'hour', compare: 'before' }),
      kept ? usage.requests({ limit: 100 }) : { requests: [] },
      health.list(),
      cloud.get(),
      store.settings.read(),
      store.keys.entries(),
      store.connections.entries(),
    ])
    const failed = requests.filter(({ end }) => end === 'failed' || end === 'cut' || end === 'refused')
    return {
      ...(summary && { usage: summary }),
      failures: failed.slice(0, MOST_FAILURES),
      health: ill.health,
      damaged: ill.damaged.length,
      counts: { keys: keys.length, connections: connections.length },
      requireApiKey: settings.requireApiKey,
      ...(mirror.cloudEnabled && mirror.lastError !== null && { mirrorError: mirror.lastError }),
    }
  }
}
