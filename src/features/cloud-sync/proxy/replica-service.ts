import { randomBytes, toHex } from '../../../lib/bytes.ts'
import { createMutex, type Mutex } from '../../../lib/promises.ts'
import { getWritableStore } from '../../../records/writable-store.ts'
import type { LimitScope } from '../../../types/limits.ts'
import type { Clock } from '../../../types.ts'
import { respondToSpending } from '../gateway/cloud-spending.ts'
import { parseReplicatedRecord } from '../gateway/replica-input.ts'
import {
  type Collection,
  MAX_STATES,
  type SpendingRequest,
  type SpendingResponse,
  type SyncRequest,
  type SyncResponse,
  type Verdict,
} from '../protocol.ts'
import { createReplica } from '../replica.ts'
import type { Replica } from '../sync-types.ts'
import type { Directory } from './directory.ts'
import type { Documents } from './documents.ts'
import { createProxyError } from './proxy-errors.ts'
import type { ReplicaActions } from './proxy-protocol.ts'
import { getNextStamps, hasSameLastSync, type ReplicaRecord, type ReplicaRecords } from './replica-records.ts'
import type { Sessions } from './sessions.ts'
import { getDataPrefix, type Tenant, type Tenants } from './tenants.ts'

/** Actions on replicas. In each process, actions on the same tenant run one at a time. */
export interface ReplicaService extends ReplicaActions {
  /** Runs work on a tenant's data while no other work on that data runs. */
  runExclusive<T>(tenant: string, work: () => Promise<T>): Promise<T>
  /** Deletes all of a tenant's data. Resolves to whether anything was deleted. */
  forget(tenant: string): Promise<boolean>
}

/** Creates the actions. `keepsSecrets` allows credentials to be stored. */
export function createReplicaService(deps: {
  documents: Documents
  replicas: ReplicaRecords
  tenants: Tenants
  directory: Directory
  sessions: Sessions
  clock: Clock
  keepsSecrets: boolean
}): ReplicaService {
  const { documents, replicas, tenants, directory, sessions, clock, keepsSecrets } = deps
  const runExclusive = createKeyedMutex()
  const replicaByTenant = new WeakMap<Tenant, Replica>()

  const getTimestamp = () => new Date(clock.now()).toISOString()

  function getReplica(tenant: Tenant): Replica {
    const replica =
      replicaByTenant.get(tenant) ??
      createReplica({
        store: getWritableStore(tenant.store, clock),
        side: 'cloud',
        replicaId: tenant.replicaId,
        validate: parseReplicatedRecord,
        clock,
        claims: {
          acquire: (digest) => directory.acquire(tenant.id, digest),
          release: (digest) => directory.release(tenant.id, digest),
        },
        keepsSecrets,
      })
    replicaByTenant.set(tenant, replica)
    return replica
  }

  /** Returns the replica that a request refers to. If there is none, creates it if the request has `create`. */
  async function getReplicaRecord(tenant: string, request: SyncRequest): Promise<ReplicaRecord> {
    const storedRecord = await replicas.read(tenant)
    if (storedRecord && !storedRecord.isEnding && storedRecord.id === request.mirror) {
      if (!request.full && !hasSameLastSync(storedRecord, request)) throw createProxyError('HISTORY_DIVERGED')
      return storedRecord
    }
    // A new replica counts revisions from the start, so revisions of another replica would be wrong.
    if (!request.create || request.changes.length > 0 || request.seen.length > 0) throw createProxyError('MIRROR_GONE')
    if (storedRecord) await removeReplica(tenant)
    const record: ReplicaRecord = {
      id: createId(),
      current: createId(),
      previous: null,
      createdAt: getTimestamp(),
      lastSyncAt: getTimestamp(),
    }
    let isCreated = false
    await replicas.update(tenant, (current) => {
      isCreated = current === undefined
      return isCreated ? record : undefined
    })
    if (!isCreated) throw createProxyError('MIRROR_GONE') // another process created a replica in the meantime
    return record
  }

  async function sync(tenantId: string, request: SyncRequest): Promise<SyncResponse> {
    const record = await getReplicaRecord(tenantId, request)
    const tenant = await tenants.open(tenantId)
    if (tenant?.replicaId !== record.id) throw createProxyError('MIRROR_GONE')
    const { verdicts, states, more } = await tenants.use(tenant, () =>
      exchangeStates(getReplica(tenant), record, request),
    )
    await forgetDeletedScopes(tenant, request, verdicts)
    const stamps = getNextStamps(record, request, { states: states.length, createStamp: createId })
    let exists = false
    await replicas.update(tenantId, (stored) => {
      exists = stored?.id === record.id && !stored.isEnding
      if (!stored || !exists) return undefined
      const { attempt, last, ...fields } = stored
      return { ...fields, ...stamps, lastSyncAt: getTimestamp() }
    })
    if (!exists) throw createProxyError('MIRROR_GONE')
    return { mirror: record.id, stamp: stamps.current, verdicts, changes: states, more }
  }

  async function exchangeStates(replica: Replica, record: ReplicaRecord, request: SyncRequest) {
    if (request.full) await replica.markAllUnseen({ isDiverged: !hasSameLastSync(record, request) })
    await replica.confirm(request.seen)
    const verdicts = await replica.accept(request.changes)
    return { verdicts, ...(await replica.listUnseen(MAX_STATES)) }
  }

  /** Removes the counters of keys and groups that were deleted on the gateway, so new ones with the same IDs start at 0. */
  async function forgetDeletedScopes(
    tenant: Tenant,
    { changes }: SyncRequest,
    verdicts: readonly Verdict[],
  ): Promise<void> {
    for (const [index, { collection, id, record }] of changes.entries()) {
      const scope = record === null && SCOPE_BY_COLLECTION[collection]
      if (scope && (verdicts[index] === 'taken' || verdicts[index] === 'known'))
        await (await tenant.ledger()).forget({ scope, id })
    }
  }

  async function exchangeSpending(tenantId: string, request: SpendingRequest): Promise<SpendingResponse> {
    const record = await replicas.read(tenantId)
    if (!record || record.isEnding || record.id !== request.mirror) throw createProxyError('MIRROR_GONE')
    const tenant = await tenants.open(tenantId)
    if (tenant?.replicaId !== record.id) throw createProxyError('MIRROR_GONE')
    return tenants.use(tenant, () => respondToSpending({ ...tenant, replicaId: record.id }, request))
  }

  /**
   * Removes a replica. Marks the replica first, so its keys stop working, and removes its record last. After a crash in between, creating the next
   * replica finishes the cleanup.
   */
  async function removeReplica(tenant: string): Promise<void> {
    await replicas.update(tenant, (stored) => (stored && !stored.isEnding ? { ...stored, isEnding: true } : undefined))
    await tenants.drop(tenant)
    await directory.releaseAll(tenant)
    await documents.removeAll(getDataPrefix(tenant))
    await replicas.remove(tenant)
  }

  return {
    runExclusive,
    sync: (tenant, request) => runExclusive(tenant, () => sync(tenant, request)),
    exchangeSpending: (tenant, request) => runExclusive(tenant, () => exchangeSpending(tenant, request)),
    remove: (tenant) =>
      runExclusive(tenant, async () => {
        await removeReplica(tenant)
        await sessions.revokeAll(tenant)
      }),
    forget: (tenant) =>
      runExclusive(tenant, async () => {
        const exists = (await replicas.read(tenant)) !== undefined || (await sessions.isEnrolled(tenant))
        await sessions.unenroll(tenant) // first, because the gateway could otherwise create another replica
        await sessions.revokeAll(tenant)
        await removeReplica(tenant)
        return exists
      }),
  }
}

const SCOPE_BY_COLLECTION: { readonly [Name in Collection]?: LimitScope } = { keys: 'key', groups: 'group' }

const createId = () => toHex(randomBytes(16))

function createKeyedMutex(): ReplicaService['runExclusive'] {
  const mutexByTenant = new Map<string, { mutex: Mutex; waitingCount: number }>()
  return async (tenant, work) => {
    const entry = mutexByTenant.get(tenant) ?? { mutex: createMutex(), waitingCount: 0 }
    mutexByTenant.set(tenant, entry)
    entry.waitingCount++
    try {
      return await entry.mutex(work)
    } finally {
      if (--entry.waitingCount === 0) mutexByTenant.delete(tenant)
    }
  }
}
