import type { JsonObject } from '../../../lib/json.ts'
import { evictOldest } from '../../../lib/maps.ts'
import { createCache, createFreshnessTracker, type RefreshableValue } from '../../../records/cached.ts'
import { createStaleFallback } from '../../../records/storage-access.ts'
import type { Clock } from '../../../types.ts'
import type { SyncRequest } from '../protocol.ts'
import type { Documents } from './documents.ts'
import type { Scopes } from './tenant-scope.ts'

/** A replica's stored record. */
export interface ReplicaRecord {
  /** Unique to each replica. A gateway that creates a replica again gets a new ID. */
  id: string
  /** The stamps of the last two responses with changes. Two are needed, because the last response may get lost. */
  current: string
  previous: string | null
  /** The request with changes since `previous`. A gateway that still has the stamp `previous` must know this request. */
  attempt?: string
  /** The request whose response had the stamp `current`. */
  last?: string
  /** ISO 8601, by the proxy's clock. */
  createdAt: string
  lastSyncAt: string
  /** Whether the replica is being removed. Its keys then no longer work. */
  isEnding?: true
}

/** The stamps that show whether the gateway and the proxy agree about their last sync. */
export type Stamps = Pick<ReplicaRecord, 'current' | 'previous' | 'attempt' | 'last'>
type StampedRequest = Pick<SyncRequest, 'stamp' | 'attempts' | 'full' | 'changes' | 'seen'>

/**
 * Returns whether the gateway and the proxy agree about their last sync. They still agree if the last response was lost. But a gateway that doesn't
 * know the last request must have been restored from an old copy.
 */
export function hasSameLastSync(
  { current, previous, attempt }: Stamps,
  { stamp, attempts = [] }: StampedRequest,
): boolean {
  if (stamp === null) return false
  return stamp === current || (stamp === previous && (attempt === undefined || attempts.includes(attempt)))
}

/**
 * Returns the stamps after a request whose response contains `states` states. They stay the same for a repeated request or if there are no changes.
 */
export function getNextStamps(
  { current, previous, attempt, last }: Stamps,
  request: StampedRequest,
  { states, createStamp }: { states: number; createStamp(): string },
): Stamps {
  const lastAttempt = request.attempts?.at(-1)
  const hasChanges = Boolean(request.full) || request.changes.length > 0 || request.seen.length > 0
  const isRepeatedAttempt = lastAttempt !== undefined && lastAttempt === last && request.stamp === previous
  const keepsStamps = isRepeatedAttempt || (!hasChanges && states === 0)
  const currentAttempt =
    keepsStamps || (!hasChanges && request.stamp !== current) ? attempt : hasChanges ? lastAttempt : undefined
  const completedAttempt = keepsStamps ? last : lastAttempt
  return {
    ...(keepsStamps ? { current, previous } : { current: createStamp(), previous: request.stamp }),
    ...(currentAttempt !== undefined && { attempt: currentAttempt }),
    ...(completedAttempt !== undefined && { last: completedAttempt }),
  }
}

/** The replicas of all tenants. Each tenant has at most one. */
export interface ReplicaRecords {
  /** Reads a replica's record from storage. */
  read(tenant: string): Promise<ReplicaRecord | undefined>
  /** Returns the replica for model requests, unless it is being removed. Caches the replica for as long as a gateway caches records. */
  getCurrent(tenant: string): Promise<ReplicaRecord | undefined>
  /** Writes the result of `change`, unless it is `undefined`. Calls `change` again if another write came first. */
  update(tenant: string, transform: (record: ReplicaRecord | undefined) => ReplicaRecord | undefined): Promise<void>
  remove(tenant: string): Promise<void>
  /** Lists the replicas that aren't being removed. */
  list(): AsyncIterable<{ tenant: string; record: ReplicaRecord }>
  close(): void
}

const MIRRORS_PREFIX = 'mirrors/'
const MAX_CACHED_RECORDS = 5_000

export function createReplicaRecords(deps: {
  documents: Documents
  scopes: Scopes
  clock: Clock
  maxAgeMs: number
}): ReplicaRecords {
  const { documents, scopes, clock, maxAgeMs } = deps
  const freshness = createFreshnessTracker(scopes.scope(MIRRORS_PREFIX), clock, maxAgeMs)
  const staleFallback = createStaleFallback(clock)
  const cachedRecords = new Map<string, RefreshableValue<ReplicaRecord | undefined>>()
  freshness.onChange((tenant) => cachedRecords.get(tenant)?.expire())
  freshness.onGap(() => {
    for (const cachedRecord of cachedRecords.values()) cachedRecord.expire()
  })

  const read = async (tenant: string) => (await documents.read(MIRRORS_PREFIX + tenant, parseReplicaRecord))?.value

  function getCachedRecord(tenant: string): RefreshableValue<ReplicaRecord | undefined> {
    const cachedRecord =
      cachedRecords.get(tenant) ?? createCache(() => read(tenant), { clock, freshness, staleFallback })
    if (!cachedRecords.delete(tenant)) evictOldest(cachedRecords, MAX_CACHED_RECORDS)
    cachedRecords.set(tenant, cachedRecord) // moves it to the end, because `evictOldest` removes the first entry
    return cachedRecord
  }

  return {
    read,
    async getCurrent(tenant) {
      const record = await getCachedRecord(tenant).current()
      return record?.isEnding ? undefined : record
    },
    update: (tenant, change) =>
      documents
        .update(MIRRORS_PREFIX + tenant, parseReplicaRecord, change)
        .finally(() => cachedRecords.get(tenant)?.drop()),
    remove: async (tenant) =>
      void (await documents.remove(MIRRORS_PREFIX + tenant).finally(() => cachedRecords.get(tenant)?.drop())),
    async *list() {
      for await (const { key, value } of documents.list(MIRRORS_PREFIX, parseReplicaRecord))
        if (!value.isEnding) yield { tenant: key, record: value }
    },
    close: freshness.close,
  }
}

function parseReplicaRecord({
  id,
  current,
  previous,
  attempt,
  last,
  createdAt,
  lastSyncAt,
  isEnding,
}: JsonObject): ReplicaRecord | undefined {
  if (typeof id !== 'string' || typeof current !== 'string' || (previous !== null && typeof previous !== 'string'))
    return undefined
  if (typeof createdAt !== 'string' || typeof lastSyncAt !== 'string') return undefined
  const attemptFields = {
    ...(typeof attempt === 'string' && { attempt }),
    ...(typeof last === 'string' && { last }),
  }
  return { id, current, previous, ...attemptFields, createdAt, lastSyncAt, ...(isEnding === true && { isEnding }) }
}
