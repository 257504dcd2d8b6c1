import { isGatewayError, toGatewayError } from '../../../errors.ts'
import type { CancelDeadline } from '../../../lib/deadline.ts'
import {
  ALIASES_PREFIX,
  COMBOS_PREFIX,
  CONNECTIONS_PREFIX,
  CUSTOM_MODELS_PREFIX,
  GROUPS_PREFIX,
  GUARDS_PREFIX,
  KEYS_PREFIX,
  PROVIDERS_PREFIX,
  SETTINGS_KEY,
} from '../../../records/record-collections.ts'
import type { WritableStore } from '../../../records/writable-store.ts'
import type { Clock } from '../../../types.ts'
import type { CloudState } from './cloud-operations.ts'
import { type CloudReplica, EXCHANGE_TIMEOUT_MS, SUPERSEDED_ERROR } from './cloud-replica.ts'
import type { CloudReplicaStateStore } from './cloud-state.ts'

/** The delay from a change to its sync, in ms. Each further change restarts the delay, up to `MAX_DEBOUNCE_MS` in total. */
const DEBOUNCE_MS = 250
const MAX_DEBOUNCE_MS = 1_000
/** The interval between syncs when there are no local changes, in ms. */
const IDLE_MS = 30_000
/** Delay before the retry after the first failure, in ms. Doubles with each further failure, up to `MAX_RETRY_MS`. */
const RETRY_MS = 1_000
const MAX_RETRY_MS = 60_000
/** Minimum time between a failure and the sync of a later change, in ms. */
const CHANGE_RETRY_MS = 4_000
/** How often, at most, to store the time of a successful sync without changes, in ms. */
const SUCCESS_SAVE_INTERVAL_MS = 60_000
/** A timer that is this late, in ms, is assumed to have been dropped by the platform. */
const DROPPED_TIMER_MS = 1_000

/** Changes that haven't been replicated yet. Times are in epoch ms. */
interface PendingChanges {
  since: number
  latest: number
}

/** A scheduled sync. */
interface ScheduledSync {
  dueAt: number
  /** Whether the sync is for a known change, as opposed to a retry or a poll for changes in the cloud. */
  isForChange: boolean
  cancel: CancelDeadline
}

export interface PushDependencies {
  store: WritableStore
  clock: Clock
  replica: CloudReplica
  /** Returns a random number in [0, 1), for jitter between retries. */
  random(): number
  /** Starts a timer that doesn't keep the process alive. */
  startTimer(ms: number, onExpire: () => void): CancelDeadline
  onError(error: unknown): void
}

/** Runs automatic syncs while cloud sync is on, and keeps the results of the latest syncs. */
export class Pushes {
  readonly #deps: PushDependencies
  #isClosed = false
  #isWatching = false
  #scheduledSync: ScheduledSync | undefined
  #pendingChanges: PendingChanges | undefined
  #inFlightChanges: PendingChanges | undefined
  #runningSync: Promise<void> | undefined
  #pendingSave: Promise<unknown> = Promise.resolve()
  #succeededAt = Number.NEGATIVE_INFINITY
  #failedAt = Number.NEGATIVE_INFINITY
  #failures = 0
  readonly #listeners: Array<() => void> = []

  constructor(deps: PushDependencies) {
    this.#deps = deps
  }

  /** Call this when cloud sync is turned on. From then on, local changes are synced promptly, and changes from the cloud are fetched regularly. */
  start(): void {
    this.#schedule(this.#deps.clock.now() + DEBOUNCE_MS, true)
  }

  /** Call this when cloud sync is turned off. Forgets the replica. */
  async stop(): Promise<void> {
    this.#unschedule()
    this.#pendingChanges = undefined
    this.#failures = 0
    const clearedState = { mirror: null, stamp: null, attempts: [], lastError: null, waitingSince: null }
    await this.#deps.replica.stateStore.update(() => clearedState)
  }

  /** Call this after replicated data may have changed. Resolves when the sync is scheduled. */
  async recordChange(): Promise<void> {
    const { store, clock } = this.#deps
    const now = clock.now()
    const isEnabled = async () => (await store.settings.mayUseCloudSync()) && (await store.settings.read()).cloudEnabled
    if (this.#isClosed || !(await isEnabled().catch(() => false))) return // the change itself succeeded; the next sync finds it
    this.#pendingChanges = { since: this.#pendingChanges?.since ?? now, latest: now }
    if (!this.#runningSync) this.#scheduleChange(this.#pendingChanges)
  }

  /** Runs an overdue sync, because some platforms drop a request's timers when the request ends. Returns whether a sync was overdue. */
  wake(): boolean {
    const isOverdue =
      this.#scheduledSync !== undefined && this.#deps.clock.now() >= this.#scheduledSync.dueAt + DROPPED_TIMER_MS
    if (isOverdue) this.#startSync()
    return isOverdue
  }

  /** Resolves when all changes are replicated or replication has failed. */
  async waitUntilIdle(): Promise<void> {
    if (this.#isClosed || !(this.#scheduledSync?.isForChange || this.#runningSync)) return
    await new Promise<void>((resolve) => void this.#listeners.push(resolve))
  }

  /** Runs a sync and records its result. Records a failure only if cloud sync is on (`isSyncEnabled`). */
  async recordOutcome<T>(exchange: () => Promise<T>, { isSyncEnabled }: { isSyncEnabled: boolean }): Promise<T> {
    this.#inFlightChanges = this.#pendingChanges
    this.#pendingChanges = undefined
    try {
      const result = await exchange()
      this.#recordSuccess()
      return result
    } catch (error) {
      this.#restorePendingChanges()
      if (isSyncEnabled && error !== SUPERSEDED_ERROR && !isGatewayError(error, 'CLOSED'))
        this.#recordFailure(toGatewayError(error).message)
      throw error
    } finally {
      this.#inFlightChanges = undefined
      if (isSyncEnabled && !this.#runningSync) this.#scheduleNext()
    }
  }

  /** Returns the results of the latest syncs. */
  async getState(): Promise<Omit<CloudState, 'cloudEnabled' | 'cloudUrl'>> {
    const { replica, clock } = this.#deps
    await this.#pendingSave
    const { lastSuccessAt, lastError, waitingSince, conflicts } = await replica.stateStore.read()
    const since = Math.min(
      ...[this.#pendingChanges?.since, this.#inFlightChanges?.since, Date.parse(waitingSince ?? '')].filter(
        isFiniteTime,
      ),
    )
    const latest = Math.max(this.#succeededAt, Date.parse(lastSuccessAt ?? '') || Number.NEGATIVE_INFINITY)
    return {
      lastSuccessAt: isFiniteTime(latest) ? toIso(latest) : null,
      lagMs: isFiniteTime(since) ? Math.max(0, clock.now() - since) : 0,
      lastError,
      conflicts,
    }
  }

  /** Cancels all in-flight work. Resolves when it has ended. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#unschedule()
    this.#deps.replica.close()
    this.#notifyListeners()
    await this.#runningSync
    await this.#pendingSave
  }

  #schedule(dueAt: number, isForChange: boolean): void {
    this.#unschedule()
    if (this.#isClosed) return
    this.#watchChanges()
    const { clock, startTimer } = this.#deps
    this.#scheduledSync = {
      dueAt,
      isForChange,
      cancel: startTimer(Math.max(0, dueAt - clock.now()), () => this.#startSync()),
    }
  }

  #unschedule(): void {
    this.#scheduledSync?.cancel()
    this.#scheduledSync = undefined
  }

  #scheduleChange({ since, latest }: PendingChanges): void {
    const dueAt = Math.min(latest + DEBOUNCE_MS, since + MAX_DEBOUNCE_MS)
    const retryAt = this.#failedAt + CHANGE_RETRY_MS
    if (this.#failures === 0) this.#schedule(dueAt, true)
    else if (!this.#scheduledSync || this.#scheduledSync.dueAt > retryAt)
      this.#schedule(Math.max(dueAt, retryAt), false)
  }

  /** Schedules the next sync after one has ended. */
  #scheduleNext(): void {
    const { clock, random } = this.#deps
    if (this.#failures > 0) {
      const pauseMs = Math.min(MAX_RETRY_MS, RETRY_MS * 2 ** (this.#failures - 1))
      this.#schedule(clock.now() + Math.round(pauseMs * (0.5 + random() / 2)), false)
    } else if (this.#pendingChanges) this.#scheduleChange(this.#pendingChanges)
    else this.#schedule(clock.now() + IDLE_MS, false)
  }

  /** Watches for changes by other gateways and programs, if the storage reports them. */
  #watchChanges(): void {
    if (this.#isWatching) return
    this.#isWatching = true
    const { freshness } = this.#deps.store
    freshness.onChange((key) => {
      if (key === SETTINGS_KEY || REPLICATED_COLLECTIONS.some((prefix) => key.startsWith(prefix)))
        void this.recordChange()
    })
    freshness.onGap(() => void this.recordChange())
  }

  /** Syncs, unless a sync is in flight. */
  #startSync(): void {
    if (this.#runningSync !== undefined) return
    this.#unschedule()
    this.#runningSync = this.#sync().then((isEnabled) => {
      this.#runningSync = undefined
      if (isEnabled) this.#scheduleNext()
      else this.#pendingChanges = undefined
      if (!this.#scheduledSync?.isForChange) this.#notifyListeners()
    })
  }

  /** Resolves to whether cloud sync is still on, as far as this instance knows. Never rejects. */
  async #sync(): Promise<boolean> {
    const { store, replica, onError } = this.#deps
    try {
      return await replica.runExclusive(
        async (signal) => {
          const { cloudEnabled, cloudUrl } = await store.settings.read()
          if (cloudEnabled) await this.recordOutcome(() => replica.sync({ cloudUrl, signal }), { isSyncEnabled: true })
          return cloudEnabled
        },
        { timeoutMs: EXCHANGE_TIMEOUT_MS, kind: 'own' },
      )
    } catch (error) {
      if (toGatewayError(error).status === 500) onError(error)
      return true
    }
  }

  /** Marks changes that couldn't be sent as waiting again. */
  #restorePendingChanges(): void {
    const unsentChanges = this.#inFlightChanges
    if (unsentChanges)
      this.#pendingChanges = {
        since: unsentChanges.since,
        latest: this.#pendingChanges?.latest ?? unsentChanges.latest,
      }
  }

  #recordSuccess(): void {
    const now = this.#deps.clock.now()
    this.#failures = 0
    this.#succeededAt = now
    this.#save(({ lastSuccessAt, lastError, waitingSince }) => {
      const hasStatusChanged = lastError !== null || waitingSince !== null
      if (!hasStatusChanged && now - (Date.parse(lastSuccessAt ?? '') || 0) < SUCCESS_SAVE_INTERVAL_MS) return {}
      return { lastSuccessAt: toIso(now), lastError: null, waitingSince: null }
    })
  }

  #recordFailure(lastError: string): void {
    this.#failures++
    this.#failedAt = this.#deps.clock.now()
    const since = this.#pendingChanges ? toIso(this.#pendingChanges.since) : null
    this.#save(({ waitingSince }) => ({ lastError, waitingSince: waitingSince ?? since }))
  }

  #save(change: Parameters<CloudReplicaStateStore['update']>[0]): void {
    const { replica, onError } = this.#deps
    this.#pendingSave = replica.stateStore.update(change).catch(onError)
  }

  #notifyListeners(): void {
    for (const listener of this.#listeners.splice(0)) listener()
  }
}

const REPLICATED_COLLECTIONS = [
  KEYS_PREFIX,
  GROUPS_PREFIX,
  GUARDS_PREFIX,
  CONNECTIONS_PREFIX,
  COMBOS_PREFIX,
  CUSTOM_MODELS_PREFIX,
  ALIASES_PREFIX,
  PROVIDERS_PREFIX,
]

const isFiniteTime = (ms: number | undefined): ms is number => ms !== undefined && Number.isFinite(ms)

const toIso = (ms: number) => new Date(ms).toISOString()
