import * as v from 'valibot'
import { alternatives, createInputError } from '../../../admin/input.ts'
import { type GatewayError, gatewayError, isGatewayError } from '../../../errors.ts'
import { runWithDeadline } from '../../../lib/deadline.ts'
import type { UpstreamFetch } from '../../../lib/exchange.ts'
import { isObject, type JsonObject } from '../../../lib/json.ts'
import { createMutex } from '../../../lib/promises.ts'
import { isLoopbackHost } from '../../../lib/urls.ts'
import type { WritableStore } from '../../../records/writable-store.ts'
import type { Clock } from '../../../types.ts'
import type { Ledger } from '../../limits/ledger/ledger.ts'
import { getIdentity } from '../gateway-identity.ts'
import { collections, paths, type SyncResponse } from '../protocol.ts'
import { createInvalidResponseError, isRejection } from '../proxy-calls.ts'
import { createReplica } from '../replica.ts'
import { createSignedCalls, type SignedCall, type SignedCallOptions, type SignedCalls } from '../signed-calls.ts'
import { syncReplicas } from '../sync-replicas.ts'
import type { SyncResult } from '../sync-types.ts'
import type { CloudConflict, CloudOptions } from './cloud-operations.ts'
import { countSchema, exchangeSpending } from './cloud-spending.ts'
import { type CloudReplicaState, type CloudReplicaStateStore, createCloudReplicaStateStore } from './cloud-state.ts'
import { parseReplicatedRecord } from './replica-input.ts'

/** The time limit of a sync, in ms. Clients wait this long for an action (src/rules.md, Cloud sync of clients). */
export const EXCHANGE_TIMEOUT_MS = 15_000

/** The dependencies of a gateway's replica. */
export interface CloudReplicaDependencies {
  store: WritableStore
  clock: Clock
  /** Returns the counters of all limits. */
  ledger(): Promise<Ledger>
  /** Calls the proxy. */
  fetch: UpstreamFetch
  options: CloudOptions
}

/** The proxy's URL, the enrollment token, and the signal that aborts the calls. The signal is also checked before each local write. */
export type ProxyContext = Omit<SignedCallOptions, 'fetch'>

/**
 * The kinds of work, lowest priority first. Work cancels lower-priority work: an operator's action cancels automatic syncs, and `disable` cancels
 * `sync`.
 */
export type WorkKind = 'own' | 'sync' | 'disable'

/** A gateway's replica, used by the operator's actions and by automatic syncs. */
export interface CloudReplica {
  /**
   * Runs work that calls the proxy, one job at a time. After `ms`, rejects with `CLOUD_TIMEOUT` and aborts the job's signal. An operator's action
   * cancels automatic syncs. `disable` cancels `sync`, because it syncs the same data.
   */
  runExclusive<T>(
    work: (signal: AbortSignal) => Promise<T>,
    options: { timeoutMs: number; kind?: WorkKind },
  ): Promise<T>
  /** Syncs all changes by both sides. With `create`, also works if the proxy doesn't have the replica yet, and ignores the state of earlier syncs. */
  exchange(context: ProxyContext, options?: { create?: boolean }): Promise<SyncResult>
  /**
   * Like `exchange`, for a replica that must already exist at the proxy. Resolves to the conflicts. If a record was rejected, rejects with an error
   * that names it; all other records are still replicated.
   */
  sync(context: ProxyContext): Promise<CloudConflict[]>
  /** Makes a signed call. Resolves to the response body. */
  call(call: SignedCall, context: ProxyContext): ReturnType<SignedCalls['call']>
  /** Forgets the current session if it has this ID. Without an ID, forgets any session. */
  forgetSession(id?: string): void
  stateStore: CloudReplicaStateStore
  /** Cancels all in-flight work. */
  close(): void
}

export function createCloudReplica({ store, clock, ledger, fetch, options }: CloudReplicaDependencies): CloudReplica {
  const stateStore = createCloudReplicaStateStore(store.storage)
  const signedCalls = createSignedCalls({ getIdentity: (cloudUrl) => getIdentity(cloudUrl, store) })
  const mutex = createMutex()
  const closeController = new AbortController()
  const yieldControllers = { own: new AbortController(), sync: new AbortController() }

  let isSyncing = false

  function cancelRunning(kind: keyof typeof yieldControllers): void {
    yieldControllers[kind].abort(SUPERSEDED_ERROR)
    yieldControllers[kind] = new AbortController()
  }

  const call: CloudReplica['call'] = (signedCall, context) => {
    rejectHttp(context.cloudUrl, options)
    return signedCalls.call(signedCall, { ...context, fetch })
  }

  /** Returns the stored state if it belongs to this proxy URL; otherwise, an empty state. */
  const getReplicaState = ({ cloudUrl, mirror, stamp, attempts }: CloudReplicaState, requestedUrl: string) =>
    cloudUrl === requestedUrl ? { mirror, stamp, attempts } : { mirror: null, stamp: null, attempts: [] }

  const runExchange: CloudReplica['exchange'] = async (context, { create = false } = {}) => {
    const { cloudUrl, signal } = context
    const refresh = async () => getReplicaState(await stateStore.read(), cloudUrl)
    const syncResult = await syncReplicas({
      createReplica: (replicaId) =>
        createReplica({
          store,
          side: 'gateway',
          replicaId,
          validate: parseReplicatedRecord,
          clock,
          keepsSecrets: true,
        }),
      send: async (body) =>
        parseSyncResponse(await call({ method: 'POST', path: paths.replica, body }, context), context),
      state: await refresh(),
      refresh,
      save: async (state) => void (await stateStore.update(() => ({ cloudUrl, attempts: [], ...state }), signal)),
      onConflict: async (conflict) =>
        void (await stateStore.update(({ conflicts }) => ({ conflicts: withConflict(conflicts, conflict) }), signal)),
      create,
      signal,
    })
    const { mirror } = await refresh()
    if (mirror !== null) await exchangeUsage(mirror, context)
    return syncResult
  }

  /** Exchanges usage with the cloud. Call this once both sides have the same limits. */
  const exchangeUsage = (replicaId: string, context: ProxyContext): Promise<void> =>
    exchangeSpending(
      { store, ledger, replicaId },
      {
        async send(body) {
          context.signal.throwIfAborted()
          return call({ method: 'POST', path: paths.spent, body }, context).catch((error: unknown) => {
            if (!isRejection(error, 'NOT_FOUND')) throw error
            return undefined // a proxy of an earlier release doesn't support this call
          })
        },
        createInvalidError: () => createInvalidResponseError(context),
      },
    )

  return {
    stateStore,
    call,
    exchange: runExchange,
    async sync(context) {
      isSyncing = true
      try {
        return requireConflicts(await runExchange(context).catch(rethrowWithEnableAdvice))
      } finally {
        isSyncing = false
      }
    },
    forgetSession: (id = signedCalls.getSessionId()) => {
      if (id === signedCalls.getSessionId()) signedCalls.forgetSession()
    },
    close() {
      for (const controller of [closeController, yieldControllers.own, yieldControllers.sync])
        controller.abort(gatewayError('CLOSED'))
    },

    runExclusive(work, { timeoutMs, kind }) {
      if (kind !== 'own') cancelRunning('own')
      if (kind === 'disable' && isSyncing) cancelRunning('sync')
      const runLocked = (combinedSignal: AbortSignal) =>
        mutex(async () => {
          combinedSignal.throwIfAborted()
          return work(combinedSignal)
        })
      const { signal } = kind === 'own' || kind === 'sync' ? yieldControllers[kind] : closeController
      return runWithDeadline(runLocked, {
        clock,
        ms: timeoutMs,
        createError: () => createTimeoutError(timeoutMs),
        signal,
      })
    },
  }
}

/** The reason for canceling a sync: the operator requested the same work, or work that includes it. */
export const SUPERSEDED_ERROR = gatewayError('CLOUD_CONFLICT', {
  message: 'Another sync with the cloud proxy has started.',
})

/** Adds a conflict, unless an earlier attempt whose write failed has already added it. */
function withConflict(conflicts: readonly CloudConflict[], conflict: CloudConflict): CloudConflict[] {
  const isSameRecord = (other: CloudConflict) => other.collection === conflict.collection && other.id === conflict.id
  const lastConflict = conflicts.findLast(isSameRecord)
  const { collection, id, kept, at } = conflict
  return lastConflict?.at === at ? [...conflicts] : [...conflicts, { collection, id, kept, at }]
}

/** Creates the error for an action that hasn't finished after `ms`. */
export const createTimeoutError = (timeoutMs: number): GatewayError =>
  gatewayError('CLOUD_TIMEOUT', {
    message: `The cloud proxy did not respond within ${timeoutMs / 1_000} s. Try again.`,
  })

/** Returns whether the proxy failed, rejected a call, or didn't respond in time. */
export const isCloudError = (error: unknown): error is GatewayError =>
  isGatewayError(error, 'CLOUD_FAILED') || isGatewayError(error, 'CLOUD_TIMEOUT')

function rethrowWithEnableAdvice(error: unknown): never {
  if (!isRejection(error, 'MIRROR_GONE', 'NOT_ENROLLED')) throw error
  const { message, code, data } = error
  throw gatewayError(code, { message: `${message} ${ENABLE_AGAIN_ADVICE}`, cause: error, data })
}

const ENABLE_AGAIN_ADVICE = 'Synchronize both sides again: POST /api/sync/cloud with the action "enable".'

/**
 * Throws `INVALID_REQUEST` if others could read the traffic to this URL. Body encryption alone doesn't protect a session's opening from a
 * man-in-the-middle attack.
 */
export function rejectHttp(cloudUrl: string, { allowHttp = false }: CloudOptions): void {
  const { protocol, hostname } = new URL(cloudUrl)
  if (protocol === 'https:' || isLoopbackHost(hostname) || allowHttp) return
  throw createInputError(
    '"cloudUrl" must start with https:// unless it is on this machine, because over http anyone on the network could read the synced data. Change it, or create the gateway with cloud: { allowHttp: true }',
  )
}

const revision = v.tuple([countSchema, countSchema])
const base = v.exactOptional(revision)
const verdict = v.picklist(['taken', 'known', 'concurrent'])
const rejectedVerdict = v.object({ refused: v.string(), code: v.picklist(['INVALID', 'NO_SECRET', 'KEY_TAKEN']) })

/** Doesn't validate the records in the states. The collections' schemas do that when the states are applied. */
const responseSchema = v.object({
  mirror: v.string(),
  stamp: v.string(),
  verdicts: v.array(alternatives([verdict, rejectedVerdict], (input) => (isObject(input) ? rejectedVerdict : verdict))),
  changes: v.array(
    v.object({
      collection: v.picklist(collections),
      id: v.string(),
      revision,
      base,
      record: v.nullable(v.custom<JsonObject>(isObject)),
      active: v.exactOptional(v.object({ isActive: v.boolean(), revision, base })),
    }),
  ),
  more: v.boolean(),
})

function parseSyncResponse(body: JsonObject, context: ProxyContext): SyncResponse {
  const response = v.safeParse(responseSchema, body)
  if (!response.success) throw createInvalidResponseError(context)
  return response.output
}

/**
 * Returns a sync's conflicts. If a record was rejected, throws an error that describes it in `data.problem`; all other records have been replicated.
 */
export function requireConflicts({ conflicts, rejected }: SyncResult): CloudConflict[] {
  const [firstRejection] = rejected
  if (!firstRejection) return conflicts
  const { collection, id, message, code } = firstRejection
  const problem = `The record ${id} of ${collection} is not synced: ${message}`
  throw gatewayError(code === 'KEY_TAKEN' ? 'CLOUD_CONFLICT' : 'CLOUD_FAILED', {
    message: `${problem} All other records are synced.`,
    data: { problem },
  })
}
