import type { HealthOperations } from '../admin/health-operations.ts'
import type { CloudOperations } from '../features/cloud-sync/gateway/cloud-operations.ts'
import type { Ledger } from '../features/limits/ledger/ledger.ts'
import type { UsageOperations, UsageSummary } from '../features/usage/operations/usage-operations.ts'
import type { StoredRequest } from '../features/usage/request-record.ts'
import type { UsageStore } from '../features/usage/usage.ts'
import type { SettingsStore } from '../records/stored-settings.ts'
import type { WritableStore } from '../records/writable-store.ts'
import type { HealthEntry } from '../request/routing/health-entry.ts'
import type { LimitState, UsageLimits } from '../types/limits.ts'
import type { Integer } from '../types/plain-types.ts'
import type { Clock } from '../types.ts'

/** A summary for operators. */
export interface Overview {
  /**
   * Hourly totals for this hour and the previous 23, and totals for the 24 hours before that, as in `usage.summary`. Absent if usage isn't stored.
   */
  usage?: UsageSummary
  /** The five newest failed, cut-off, or rejected requests among the latest 100 requests. */
  failures: StoredRequest[]
  /** Recent failures, as in `health.list`. */
  health: HealthEntry[]
  /** Number of damaged records in the storage. */
  damaged: Integer
  /** Up to 20 limits of the gateway, its groups, and its keys that are at least 80% used, most used first. Absent if the counters can't be read. */
  nearLimits?: NearLimit[]
  counts: { keys: Integer; connections: Integer }
  /** Whether requests need a key. */
  requireApiKey: boolean
  /** Why the last cloud sync failed. Absent if it succeeded or cloud sync is off. */
  mirrorError?: string
}

/** A limit that is used up or almost used up. */
export interface NearLimit extends LimitState {
  /** The name of the key or group. */
  name?: string
}

const HOUR_MS = 60 * 60 * 1_000
const MAX_FAILURES = 5
const MAX_NEAR_LIMITS = 20

export function createOverviewReader({
  usageStore,
  usage,
  health,
  cloud,
  store,
  ledger,
  clock,
}: {
  usageStore: UsageStore | undefined
  usage: UsageOperations<unknown>
  health: Pick<HealthOperations, 'list'>
  cloud: Pick<CloudOperations, 'get'>
  store: Pick<WritableStore, 'keys' | 'groups' | 'connections'> & { settings: Pick<SettingsStore, 'read'> }
  ledger(): Promise<Pick<Ledger, 'listNearLimits'>>
  clock: Clock
}) {
  /** The limits from the last read, cached for one millisecond per key or group with limits, because reading many counters is slow. */
  let cachedLimits: { loadedAt: number; ttlMs: number; nearLimits: Promise<NearLimit[] | undefined> } | undefined
  return async (): Promise<Overview> => {
    const from = new Date(Math.floor(clock.now() / HOUR_MS) * HOUR_MS - 23 * HOUR_MS).toISOString()
    const [summary, { requests }, unhealthy, cloudState, settings, keys, groups, connections] = await Promise.all([
      usageStore && usage.summary({ from, by: 'hour', compare: 'before' }),
      usageStore ? usage.requests({ limit: 100 }) : { requests: [] },
      health.list(),
      cloud.get(),
      store.settings.read(),
      store.keys.entries(),
      store.groups.entries(),
      store.connections.entries(),
    ])
    const limitsByAccount = groupLimitsByAccount({ keys, groups, settings })
    const now = clock.now()
    if (!cachedLimits || Math.abs(now - cachedLimits.loadedAt) >= cachedLimits.ttlMs)
      cachedLimits = {
        loadedAt: now,
        ttlMs: limitsByAccount.size,
        nearLimits: findNearLimits(limitsByAccount, ledger).catch(() => undefined),
      }
    const nearLimits = await cachedLimits.nearLimits
    const failedRequests = requests.filter(({ end }) => end === 'failed' || end === 'cut' || end === 'refused')
    return {
      ...(summary && { usage: summary }),
      failures: failedRequests.slice(0, MAX_FAILURES),
      health: unhealthy.health,
      damaged: unhealthy.damaged.length,
      ...(nearLimits && { nearLimits }),
      counts: { keys: keys.length, connections: connections.length },
      requireApiKey: settings.requireApiKey,
      ...(cloudState.cloudEnabled && cloudState.lastError !== null && { mirrorError: cloudState.lastError }),
    }
  }
}

/** Names and limits of the gateway, groups, and keys, by scope and ID. */
type LimitsByAccount = ReadonlyMap<string, { name?: string; limits: UsageLimits }>

interface LimitHolder {
  record: { id: string; name: string; limits?: UsageLimits }
}

function groupLimitsByAccount({
  keys,
  groups,
  settings,
}: {
  keys: readonly LimitHolder[]
  groups: readonly LimitHolder[]
  settings: { limits?: UsageLimits }
}): LimitsByAccount {
  const limitsByAccount = new Map<string, { name?: string; limits: UsageLimits }>()
  if (settings.limits) limitsByAccount.set('gateway/', { limits: settings.limits })
  for (const [scope, entries] of [
    ['key', keys],
    ['group', groups],
  ] as const)
    for (const {
      record: { id, name, limits },
    } of entries)
      if (limits) limitsByAccount.set(`${scope}/${id}`, { name, limits })
  return limitsByAccount
}

async function findNearLimits(
  limitsByAccount: LimitsByAccount,
  ledger: () => Promise<Pick<Ledger, 'listNearLimits'>>,
): Promise<NearLimit[]> {
  if (limitsByAccount.size === 0) return []
  const nearLimits = await (await ledger()).listNearLimits(
    ({ scope, id }) => limitsByAccount.get(`${scope}/${id}`)?.limits,
  )
  return nearLimits.slice(0, MAX_NEAR_LIMITS).map((state) => {
    const { name } = limitsByAccount.get(`${state.scope}/${state.id ?? ''}`) ?? {}
    return name === undefined ? state : { ...state, name }
  })
}
