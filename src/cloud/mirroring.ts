import { randomBytes, toHex } from '../lib/bytes.ts'
import { createMutex, type Mutex } from '../lib/promises.ts'
import { answerSpending } from '../management/cloud-spending.ts'
import { parseMirrored } from '../management/mirror-input.ts'
import { createWritableStore } from '../store/writable-store.ts'
import {
  type Collection,
  MAX_STATES,
  type SpentAnswer,
  type SpentRequest,
  type SyncAnswer,
  type SyncRequest,
  type Verdict,
} from '../sync/protocol.ts'
import { createReplica } from '../sync/replica.ts'
import type { Replica } from '../sync/types.ts'
import type { LimitScope } from '../types/limits.ts'
import type { Clock } from '../types.ts'
import type { Directory } from './directory.ts'
import type { Documents } from './documents.ts'
import { isRemembered, type Mirror, type Mirrors, stampsAfter } from './mirrors.ts'
import type { MirrorActions } from './protocol.ts'
import { refusal } from './refusals.ts'
import type { Sessions } from './sessions.ts'
import { dataOf, type Tenant, type Tenants } from './tenants.ts'

/** The work on mirrors: for each tenant one thing after the other in this process. */
export interface Mirroring extends MirrorActions {
  /** Runs work on the data of a tenant in its turn. */
  inTurn<T>(tenant: string, work: () => Promise<T>): Promise<T>
  /** Removes all data of a tenant. Resolves to whether there was any. */
  forget(tenant: string): Promise<boolean>
}

/** `keepsSecrets`: may credentials be stored? */
export function createMirroring(deps: {
  documents: Documents
  mirrors: Mirrors
  tenants: Tenants
  directory: Directory
  sessions: Sessions
  clock: Clock
  keepsSecrets: boolean
}): Mirroring {
  const { documents, mirrors, tenants, directory, sessions, clock, keepsSecrets } = deps
  const turns = createTurns()
  const replicas = new WeakMap<Tenant, Replica>()

  const now = () => new Date(clock.now()).toISOString()

  function replicaOf(tenant: Tenant): Replica {
    const replica =
      replicas.get(tenant) ??
      createReplica({
        store: createWritableStore(tenant.store, clock),
        side: 'cloud',
        mirror: tenant.mirror,
        validate: parseMirrored,
        clock,
        claims: {
          take: (digest) => directory.take(tenant.id, digest),
          release: (digest) => directory.release(tenant.id, digest),
        },
        keepsSecrets,
      })
    replicas.set(tenant, replica)
    return replica
  }

  /** The mirror of the request. It is made when the request demands it and the mirror does not exist. */
  async function mirrorFor(tenant: string, request: SyncRequest): Promise<Mirror> {
    const stored = await mirrors.read(tenant)
    if (stored && !stored.isEnding && stored.id === request.mirror) {
      if (!request.full && !isRemembered(stored, request)) throw refusal('HISTORY_DIVERGED')
      return stored
    }
    // Revisions of states count from the beginning of a mirror: those of another mirror would be wrong here.
    if (!request.create || request.changes.length > 0 || request.seen.length > 0) throw refusal('MIRROR_GONE')
    if (stored) await removeMirror(tenant)
    const mirror: Mirror = { id: newId(), current: newId(), previous: null, createdAt: now(), lastSyncAt: now() }
    let isMade = false
    await mirrors.change(tenant, (current) => {
      isMade = current === undefined
      return isMade ? mirror : undefined
    })
    if (!isMade) throw refusal('MIRROR_GONE') // another process has just made a mirror
    return mirror
  }

  async function sync(tenantId: string, request: SyncRequest): Promise<SyncAnswer> {
    const mirror = await mirrorFor(tenantId, request)
    const tenant = await tenants.open(tenantId)
    if (tenant?.mirror !== mirror.id) throw refusal('MIRROR_GONE')
    const { verdicts, states, more } = await tenants.use(tenant, () => exchanged(replicaOf(tenant), mirror, request))
    await forgetDeleted(tenant, request, verdicts)
    const stamps = stampsAfter(mirror, request, { states: states.length, newStamp: newId })
    let isThere = false
    await mirrors.change(tenantId, (stored) => {
      isThere = stored?.id === mirror.id && !stored.isEnding
      if (!stored || !isThere) return undefined
      const { attempt, last, ...kept } = stored
      return { ...kept, ...stamps, lastSyncAt: now() }
    })
    if (!isThere) throw refusal('MIRROR_GONE')
    return { mirror: mirror.id, stamp: stamps.current, verdicts, changes: states, more }
  }

  async function exchanged(replica: Replica, mirror: Mirror, request: SyncRequest) {
    if (request.full) await replica.markAllUnseen({ isDiverged: !isRemembered(mirror, request) })
    await replica.confirm(request.seen)
    const verdicts = await replica.accept(request.changes)
    return { verdicts, ...(await replica.unseen(MAX_STATES)) }
  }

  /** Removes the counters of keys and groups that were deleted at home: another one of the same id begins anew. */
  async function forgetDeleted(tenant: Tenant, { changes }: SyncRequest, verdicts: readonly Verdict[]): Promise<void> {
    for (const [index, { collection, id, record }] of changes.entries()) {
      const scope = record === null && SCOPES[collection]
      if (scope && (verdicts[index] === 'taken' || verdicts[index] === 'known'))
        await (await tenant.ledger()).forget({ scope, id })
    }
  }

  async function spent(tenantId: string, request: SpentRequest): Promise<SpentAnswer> {
    const mirror = await mirrors.read(tenantId)
    if (!mirror || mirror.isEnding || mirror.id !== request.mirror) throw refusal('MIRROR_GONE')
    const tenant = await tenants.open(tenantId)
    if (tenant?.mirror !== mirror.id) throw refusal('MIRROR_GONE')
    return tenants.use(tenant, () => answerSpending({ ...tenant, mirror: mirror.id }, request))
  }

  /**
   * Removes a mirror. It is marked as ending first, so that its keys open nothing more. Its record is removed last, so that what a crash has
   * left is removed when the next mirror is made.
   */
  async function removeMirror(tenant: string): Promise<void> {
    await mirrors.change(tenant, (stored) => (stored && !stored.isEnding ? { ...stored, isEnding: true } : undefined))
    await tenants.drop(tenant)
    await directory.releaseAll(tenant)
    await documents.removeAll(dataOf(tenant))
    await mirrors.remove(tenant)
  }

  return {
    inTurn: turns,
    sync: (tenant, request) => turns(tenant, () => sync(tenant, request)),
    spent: (tenant, request) => turns(tenant, () => spent(tenant, request)),
    remove: (tenant) =>
      turns(tenant, async () => {
        await removeMirror(tenant)
        await sessions.revokeAll(tenant)
      }),
    forget: (tenant) =>
      turns(tenant, async () => {
        const isKnown = (await mirrors.read(tenant)) !== undefined || (await sessions.isEnrolled(tenant))
        await sessions.unenrol(tenant) // first, since the gateway could otherwise make another mirror
        await sessions.revokeAll(tenant)
        await removeMirror(tenant)
        return isKnown
      }),
  }
}

/** The collections whose records have counters. */
const SCOPES: { readonly [Name in Collection]?: LimitScope } = { keys: 'key', groups: 'group' }

const newId = () => toHex(randomBytes(16))

/** Makes a function that runs the work of each tenant one after the other. */
function createTurns(): Mirroring['inTurn'] {
  const turns = new Map<string, { mutex: Mutex; waiting: number }>()
  return async (tenant, work) => {
    const turn = turns.get(tenant) ?? { mutex: createMutex(), waiting: 0 }
    turns.set(tenant, turn)
    turn.waiting++
    try {
      return await turn.mutex(work)
    } finally {
      if (--turn.waiting === 0) turns.delete(tenant)
    }
  }
}
