import * as v from 'valibot'
import { alternatives, invalidInput } from '../../../admin/input.ts'
import { type GatewayError, gatewayError } from '../../../errors.ts'
import { runWithDeadline } from '../../../lib/deadline.ts'
import type { UpstreamFetch } from '../../../lib/exchange.ts'
import { isObject, type JsonObject } from '../../../lib/json.ts'
import { createMutex } from '../../../lib/promises.ts'
import { isLoopbackHost } from '../../../lib/urls.ts'
import type { WritableStore } from '../../../records/writable-store.ts'
import type { Clock } from '../../../types.ts'
import type { Ledger } from '../../limits/ledger/ledger.ts'
import { getIdentity } from '../mirror-identity.ts'
import { collections, paths, type SyncResponse } from '../protocol.ts'
import { createInvalidResponse, isRejection } from '../proxy-calls.ts'
import { createReplica } from '../replica.ts'
import { createSignedCalls, type SignedCall, type SignedCallOptions, type SignedCalls } from '../signed-calls.ts'
import { syncReplicas } from '../sync-replicas.ts'
import type { SyncResult } from '../sync-types.ts'
import type { CloudConflict, CloudOptions } from './cloud-operations.ts'
import { count, exchangeSpending } from './cloud-spending.ts'
import { createMirrorMemory, type MirrorMemory, type MirrorMemoryStore } from './cloud-state.ts'
import { parseMirrored } from './mirror-input.ts'

/** The time limit of a sync, in ms: as long as a client waits for an action (src/rules.md, Cloud sync of clients). */
export const EXCHANGE_MS = 15_000

/** The dependencies of a gateway's mirror. */
export interface MirrorDependencies {
  store: WritableStore
  clock: Clock
  /** The counters of all limits. */
  ledger(): Promise<Ledger>
  /** Calls the proxy. */
  fetch: UpstreamFetch
  options: CloudOptions
}

/**
 * The proxy's URL, what a gateway sends to enroll there, and the signal that aborts the calls. The signal is also checked before each write to the
 * local storage.
 */
export type ProxyContext = Omit<SignedCallOptions, 'fetch'>

/** The kinds of work, which differ in priority: the gateway's own syncs are cancelled for an operator's action, and a `sync` for a `disable`. */
export type WorkKind = 'own' | 'sync' | 'disable'

/** The mirror of a gateway, as used by its actions and its own syncs. */
export interface HomeMirror {
  /**
   * Runs work that calls the proxy, one at a time. Rejects with `CLOUD_TIMEOUT` after `ms`, and aborts the work's signal. The gateway's own work is
   * cancelled when the operator starts an action, and a `sync` for a `disable`, which syncs the same data.
   */
  alone<T>(work: (signal: AbortSignal) => Promise<T>, options: { ms: number; kind?: WorkKind }): Promise<T>
  /** Syncs all changes of both sides. `create`: also with a proxy that has no mirror yet, and regardless of what both sides remember of earlier syncs. */
  exchange(context: ProxyContext, options?: { create?: boolean }): Promise<SyncResult>
  /**
   * Like `exchange`, with a proxy that should have the mirror. Resolves to the conflicts. Rejects with the name of a rejected record; all other
   * records are mirrored anyway.
   */
  sync(context: ProxyContext): Promise<CloudConflict[]>
  /** Makes a signed call; resolves to the body of the response. */
  call(call: SignedCall, context: ProxyContext): ReturnType<SignedCalls['call']>
  /** Forgets the current session if it has this id; without an id, in any case. */
  forgetSession(id?: string): void
  memory: MirrorMemoryStore
  /** Cancels everything in flight. */
  close(): void
}

export function createMirror({ store, clock, ledger, fetch, options }: MirrorDependencies): HomeMirror {
  const memory = createMirrorMemory(store.storage)
  const calls = createSignedCalls({ getIdentity: (cloudUrl) => getIdentity(cloudUrl, store) })
  const inTurn = createMutex()
  const closing = new AbortController()
  const yielding = { own: new AbortController(), sync: new AbortController() }

  let isSyncing = false

  function cancelRunning(kind: keyof typeof yielding): void {
    yielding[kind].abort(GAVE_WAY)
    yielding[kind] = new AbortController()
  }

  const call: HomeMirror['call'] = (one, context) => {
    refuseHttp(context.cloudUrl, options)
    return calls.call(one, { ...context, fetch })
  }

  /** Returns the remembered state of the mirror if that mirror is at this URL; otherwise an empty state. */
  const getMirrorState = ({ cloudUrl, mirror, stamp, attempts }: MirrorMemory, address: string) =>
    cloudUrl === address ? { mirror, stamp, attempts } : { mirror: null, stamp: null, attempts: [] }

  const runExchange: HomeMirror['exchange'] = async (context, { create = false } = {}) => {
    const { cloudUrl, signal } = context
    const refresh = async () => getMirrorState(await memory.read(), cloudUrl)
    const exchanged = await syncReplicas({
      createReplica: (replicaId) =>
        createReplica({ store, side: 'gateway', replicaId, validate: parseMirrored, clock, keepsSecrets: true }),
      send: async (body) => syncAnswer(await call({ method: 'POST', path: paths.replica, body }, context), context),
      state: await refresh(),
      refresh,
      save: async (state) => void (await memory.change(() => ({ cloudUrl, attempts: [], ...state }), signal)),
      onConflict: async (conflict) =>
        void (await memory.change(({ conflicts }) => ({ conflicts: withConflict(conflicts, conflict) }), signal)),
      create,
      signal,
    })
    const { mirror } = await refresh()
    if (mirror !== null) await exchangeSpent(mirror, context)
    return exchanged
  }

  /** Once both sides have the same limits, they exchange what each has used of them. */
  const exchangeSpent = (mirror: string, context: ProxyContext): Promise<void> =>
    exchangeSpending(
      { store, ledger, mirror },
      {
        async send(body) {
          context.signal.throwIfAborted()
          return call({ method: 'POST', path: paths.spent, body }, context).catch((error: unknown) => {
            if (!isRejection(error, 'NOT_FOUND')) throw error
            return undefined // a proxy of an earlier release
          })
        },
        invalid: () => createInvalidResponse(context),
      },
    )

  return {
    memory,
    call,
    exchange: runExchange,
    async sync(context) {
      isSyncing = true
      try {
        return requireConflicts(await runExchange(context).catch(adviseEnable))
      } finally {
        isSyncing = false
      }
    },
    forgetSession: (id = calls.session()) => {
      if (id === calls.session()) calls.forget()
    },
    close() {
      for (const one of [closing, yielding.own, yielding.sync]) one.abort(gatewayError('CLOSED'))
    },

    alone(work, { ms, kind }) {
      if (kind !== 'own') cancelRunning('own')
      if (kind === 'disable' && isSyncing) cancelRunning('sync')
      const runInOrder = (both: AbortSignal) =>
        inTurn(async () => {
          both.throwIfAborted()
          return work(both)
        })
      const { signal } = kind === 'own' || kind === 'sync' ? yielding[kind] : closing
      return runWithDeadline(runInOrder, { clock, ms, late: () => createTimeoutError(ms), signal })
    },
  }
}

/** Why the gateway cancels its own work: the operator requested the same work, or work that includes it. */
export const GAVE_WAY = gatewayError('CLOUD_CONFLICT', { message: 'Another sync with the cloud proxy has started.' })

/** Adds a conflict, unless it was reported again because writing its result had failed. */
function withConflict(known: readonly CloudConflict[], conflict: CloudConflict): CloudConflict[] {
  const isSame = (one: CloudConflict) => one.collection === conflict.collection && one.id === conflict.id
  const last = known.findLast(isSame)
  const { collection, id, kept, at } = conflict
  return last?.at === at ? [...known] : [...known, { collection, id, kept, at }]
}

/** Creates the error of an action that hasn't finished after `ms`. */
export const createTimeoutError = (ms: number): GatewayError =>
  gatewayError('CLOUD_TIMEOUT', { message: `The cloud proxy did not respond within ${ms / 1_000} s. Try again.` })

function adviseEnable(error: unknown): never {
  if (!isRejection(error, 'MIRROR_GONE', 'NOT_ENROLLED')) throw error
  const { message, code, data } = error
  throw gatewayError(code, { message: `${message} ${ENABLE_AGAIN}`, cause: error, data })
}

const ENABLE_AGAIN = 'Synchronize both sides again: POST /api/sync/cloud with the action "enable".'

/**
 * Throws `INVALID_REQUEST` for a URL whose traffic others could read: the encryption of bodies doesn't protect against a man in the middle when a
 * session is opened.
 */
export function refuseHttp(cloudUrl: string, { allowHttp = false }: CloudOptions): void {
  const { protocol, hostname } = new URL(cloudUrl)
  if (protocol === 'https:' || isLoopbackHost(hostname) || allowHttp) return
  throw invalidInput(
    '"cloudUrl" must start with https:// unless it is on this machine, because over http anyone on the network could read the synced data. Change it, or create the gateway with cloud: { allowHttp: true }',
  )
}

const revision = v.tuple([count, count])
const base = v.exactOptional(revision)
const verdict = v.picklist(['taken', 'known', 'concurrent'])
const refused = v.object({ refused: v.string(), code: v.picklist(['INVALID', 'NO_SECRET', 'KEY_TAKEN']) })

/** The records of the states are validated by their collections' schemas when they are applied. */
const answerSchema = v.object({
  mirror: v.string(),
  stamp: v.string(),
  verdicts: v.array(alternatives([verdict, refused], (input) => (isObject(input) ? refused : verdict))),
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

function syncAnswer(body: JsonObject, context: ProxyContext): SyncResponse {
  const answer = v.safeParse(answerSchema, body)
  if (!answer.success) throw createInvalidResponse(context)
  return answer.output
}

/** Returns the conflicts of a sync. Throws if a record was rejected, and names it only in the error's `data.problem`; all others are mirrored. */
export function requireConflicts({ conflicts, refused }: SyncResult): CloudConflict[] {
  const [first] = refused
  if (!first) return conflicts
  const { collection, id, message, code } = first
  const problem = `The record ${id} of ${collection} is not synced: ${message}`
  throw gatewayError(code === 'KEY_TAKEN' ? 'CLOUD_CONFLICT' : 'CLOUD_FAILED', {
    message: `${problem} All other records are synced.`,
    data: { problem },
  })
}
