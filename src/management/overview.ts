import type { Ledger } from '../limits/ledger.ts'
import type { HealthEntry } from '../routing/health-entry.ts'
import type { SettingsStore } from '../store/settings.ts'
import type { WritableStore } from '../store/writable-store.ts'
import type { LimitState, UsageLimits } from '../types/limits.ts'
import type { Clock } from '../types.ts'
import type { KeptRequest } from '../usage/kept/record.ts'
import type { KeptUsage } from '../usage/kept/usage.ts'
import type { CloudOperations } from './cloud.ts'
import type { HealthOperations } from './health.ts'
import type { UsageOperations, UsageSummary } from './usage.ts'

/** A summary for operators. */
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
  /**
   * Limits of the gateway, its groups and its keys of which 80 % or more are used, the fullest 20, with the names of those that they hold for. Absent
   * where the counters cannot be read.
   */
  nearLimits?: NearLimit[]
  counts: { keys: number; connections: number }
  /** Must requests have a key? */
  requireApiKey: boolean
  /** Why the last exchange with the cloud proxy failed; absent when it did not, and while cloud mode is off. */
  mirrorError?: string
}

/** A limit that is used up, or nearly. */
export interface NearLimit extends LimitState {
  /** Of the key or group. */
  name?: string
}

const HOUR_MS = 60 * 60 * 1_000
const MOST_FAILURES = 5
const MOST_LIMITS = 20

export function createOverview({
  kept,
  usage,
  health,
  cloud,
  store,
  ledger,
  clock,
}: {
  kept: KeptUsage | undefined
  usage: UsageOperations<unknown>
  health: Pick<HealthOperations, 'list'>
  cloud: Pick<CloudOperations, 'get'>
  store: Pick<WritableStore, 'keys' | 'groups' | 'connections'> & { settings: Pick<SettingsStore, 'read'> }
  ledger(): Promise<Pick<Ledger, 'near'>>
  clock: Clock
}) {
  /** The limits that were read last. They are kept one millisecond for each account with limits, as reading the counters of many takes long. */
  let limits: { at: number; forMs: number; found: Promise<NearLimit[] | undefined> } | undefined
  return async (): Promise<Overview> => {
    const from = new Date(Math.floor(clock.now() / HOUR_MS) * HOUR_MS - 23 * HOUR_MS).toISOString()
    const [summary, { requests }, ill, mirror, settings, keys, groups, connections] = await Promise.all([
      kept && usage.summary({ from, by: 'hour', compare: 'before' }),
      kept ? usage.requests({ limit: 100 }) : { requests: [] },
      health.list(),
      cloud.get(),
      store.settings.read(),
      store.keys.entries(),
      store.groups.entries(),
      store.connections.entries(),
    ])
    const holders = limitsByAccount({ keys, groups, settings })
    const now = clock.now()
    if (!limits || Math.abs(now - limits.at) >= limits.forMs)
      limits = { at: now, forMs: holders.size, found: nearIn(holders, ledger).catch(() => undefined) }
    const nearLimits = await limits.found
    const failed = requests.filter(({ end }) => end === 'failed' || end === 'cut' || end === 'refused')
    return {
      ...(summary && { usage: summary }),
      failures: failed.slice(0, MOST_FAILURES),
      health: ill.health,
      damaged: ill.damaged.length,
      ...(nearLimits && { nearLimits }),
      counts: { keys: keys.length, connections: connections.length },
      requireApiKey: settings.requireApiKey,
      ...(mirror.cloudEnabled && mirror.lastError !== null && { mirrorError: mirror.lastError }),
    }
  }
}

/** What has limits, by its account. */
type LimitsByAccount = ReadonlyMap<string, { name?: string; limits: UsageLimits }>

interface WithLimits {
  record: { id: string; name: string; limits?: UsageLimits }
}

function limitsByAccount({
  keys,
  groups,
  settings,
}: {
  keys: readonly WithLimits[]
  groups: readonly WithLimits[]
  settings: { limits?: UsageLimits }
}): LimitsByAccount {
  const holders = new Map<string, { name?: string; limits: UsageLimits }>()
  if (settings.limits) holders.set('gateway/', { limits: settings.limits })
  for (const [scope, all] of [
    ['key', keys],
    ['group', groups],
  ] as const)
    for (const {
      record: { id, name, limits },
    } of all)
      if (limits) holders.set(`${scope}/${id}`, { name, limits })
  return holders
}

async function nearIn(holders: LimitsByAccount, ledger: () => Promise<Pick<Ledger, 'near'>>): Promise<NearLimit[]> {
  if (holders.size === 0) return []
  const near = await (await ledger()).near(({ scope, id }) => holders.get(`${scope}/${id}`)?.limits)
  return near.slice(0, MOST_LIMITS).map((state) => {
    const { name } = holders.get(`${state.scope}/${state.id ?? ''}`) ?? {}
    return name === undefined ? state : { ...state, name }
  })
}
