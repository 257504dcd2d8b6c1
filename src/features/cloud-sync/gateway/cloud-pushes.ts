import { isGatewayError, toGatewayError } from '../../../errors.ts'
import type { CancelDeadline } from '../../../lib/deadline.ts'
import {
  ALIASES,
  COMBOS,
  CONNECTIONS,
  CUSTOM_MODELS,
  GROUPS,
  KEYS,
  PROVIDERS,
  SETTINGS,
} from '../../../records/record-collections.ts'
import type { WritableStore } from '../../../records/writable-store.ts'
import type { Clock } from '../../../types.ts'
import { EXCHANGE_MS, type GatewayMirror, SUPERSEDED } from './cloud-mirror.ts'
import type { CloudState } from './cloud-operations.ts'

/** The automatic syncs while cloud sync is on, and the results of the last syncs. */
export interface Pushes {
  /** Call this when cloud sync is turned on. From then on, local changes are synced promptly, and changes from the cloud are fetched regularly. */
  begin(): void
  /** Call this when cloud sync is turned off. Forgets the mirror. */
  end(): Promise<void>
  /** Call this after mirrored data may have changed. Resolves when the sync is scheduled. */
  changed(): Promise<void>
  /** Runs an overdue sync, because some platforms drop a request's timers when the request ends. Returns whether a sync was overdue. */
  wake(): boolean
  /** Resolves when all changes are mirrored or mirroring has failed. */
  settled(): Promise<void>
  /** Runs a sync and records its result. Records a failure only if `isOn`, that is, if cloud sync is on. */
  recordOutcome<T>(exchanging: () => Promise<T>, options: { isOn: boolean }): Promise<T>
  /** Returns the results of the last syncs. */
  state(): Promise<Omit<CloudState, 'cloudEnabled' | 'cloudUrl'>>
  /** Cancels everything in flight; resolves when it has ended. */
  close(): Promise<void>
}

/** The delay from a change to its sync, in ms. Each further change restarts the delay, up to `MAX_DEBOUNCE_MS` in total. */
const DEBOUNCE_MS = 250
const MAX_DEBOUNCE_MS = 1_000
/** The interval between syncs without local changes, in ms. */
const IDLE_MS = 30_000
/** Time until a retry after the first failure, in ms. Doubles after each further failure, up to `MAX_RETRY_MS`. */
const RETRY_MS = 1_000
const MAX_RETRY_MS = 60_000
/** Minimum time from a failure until a later change is tried, in ms. */
const CHANGE_RETRY_MS = 4_000
/** How often the time of a successful sync without changes is stored, in ms, at most. */
const SAVE_SUCCESS_MS = 60_000
/** If a timer is this late, in ms, the platform has dropped it. */
const DROPPED_MS = 1_000

/** Changes that aren't mirrored yet; epoch ms. */
interface WaitingChanges {
  since: number
  latest: number
}

/** A scheduled sync. */
interface ScheduledSync {
  at: number
  /** Whether the sync is for a known change, as opposed to a retry or possible changes at the cloud. */
  isForChange: boolean
  cancel: CancelDeadline
}

export interface PushDependencies {
  store: WritableStore
  clock: Clock
  mirror: GatewayMirror
  /** Returns a random number in [0, 1), for jitter between retries. */
  random(): number
  /** Starts a timer that doesn't keep the process alive. */
  startTimer(ms: number, onTime: () => void): CancelDeadline
  onError(error: unknown): void
}

export function createPushes({ store, clock, mirror, random, startTimer, onError }: PushDependencies): Pushes {
  let isClosed = false
  let isFollowing = false
  let planned: ScheduledSync | undefined
  let waiting: WaitingChanges | undefined
  let sending: WaitingChanges | undefined
  let running: Promise<void> | undefined
  let saving: Promise<unknown> = Promise.resolve()
  let succeededAt = Number.NEGATIVE_INFINITY
  let failedAt = Number.NEGATIVE_INFINITY
  let failures = 0
  const listeners: Array<() => void> = []

  function schedule(at: number, isForChange: boolean): void {
    planned?.cancel()
    planned = undefined
    if (isClosed) return
    follow()
    planned = { at, isForChange, cancel: startTimer(Math.max(0, at - clock.now()), () => void run()) }
  }

  function drop(): void {
    planned?.cancel()
    planned = undefined
  }

  /** Schedules the next sync after one has ended. */
  function scheduleNext(): void {
    if (failures > 0) {
      const pauseMs = Math.min(MAX_RETRY_MS, RETRY_MS * 2 ** (failures - 1))
      schedule(clock.now() + Math.round(pauseMs * (0.5 + random() / 2)), false)
    } else if (waiting) scheduleChange(waiting)
    else schedule(clock.now() + IDLE_MS, false)
  }

  function scheduleChange({ since, latest }: WaitingChanges): void {
    const at = Math.min(latest + DEBOUNCE_MS, since + MAX_DEBOUNCE_MS)
    if (failures === 0) schedule(at, true)
    else if (!planned || planned.at > failedAt + CHANGE_RETRY_MS)
      schedule(Math.max(at, failedAt + CHANGE_RETRY_MS), false)
  }

  function recordChange(at: number): void {
    waiting = { since: waiting?.since ?? at, latest: at }
    if (!running) scheduleChange(waiting)
  }

  async function changed(): Promise<void> {
    const at = clock.now()
    const isEnabled = async () => (await store.settings.mayUseCloudSync()) && (await store.settings.read()).cloudEnabled
    if (!isClosed && (await isEnabled().catch(() => false))) recordChange(at) // the change itself succeeded; the next sync finds it
  }

  /** Watches for changes by other gateways and programs, if the storage reports them. */
  function follow(): void {
    if (isFollowing) return
    isFollowing = true
    store.freshness.onChange((key) => {
      if (key === SETTINGS || MIRRORED.some((prefix) => key.startsWith(prefix))) void changed()
    })
    store.freshness.onGap(() => void changed())
  }

  /** Syncs, unless a sync is in flight. Never rejects. */
  function run(): Promise<void> {
    if (running !== undefined) return running
    drop()
    running = syncOnce().then((shouldContinue) => {
      running = undefined
      if (shouldContinue) scheduleNext()
      else waiting = undefined
      if (!planned?.isForChange) for (const listener of listeners.splice(0)) listener()
    })
    return running
  }

  /** Resolves to whether cloud sync is still on, as far as this instance knows. */
  async function syncOnce(): Promise<boolean> {
    try {
      return await mirror.runExclusive(
        async (signal) => {
          const { cloudEnabled, cloudUrl } = await store.settings.read()
          if (cloudEnabled) await recordOutcome(() => mirror.sync({ cloudUrl, signal }), { isOn: true })
          return cloudEnabled
        },
        { ms: EXCHANGE_MS, kind: 'own' },
      )
    } catch (error) {
      if (toGatewayError(error).status === 500) onError(error)
      return true
    }
  }

  async function recordOutcome<T>(exchanging: () => Promise<T>, { isOn }: { isOn: boolean }): Promise<T> {
    sending = waiting
    waiting = undefined
    try {
      const result = await exchanging()
      recordSuccess()
      return result
    } catch (error) {
      restoreWaiting()
      if (isOn && error !== SUPERSEDED && !isGatewayError(error, 'CLOSED')) recordFailure(toGatewayError(error).message)
      throw error
    } finally {
      sending = undefined
      if (isOn && !running) scheduleNext()
    }
  }

  /** Marks changes that couldn't be sent as waiting again. */
  function restoreWaiting(): void {
    if (sending) waiting = { since: sending.since, latest: waiting?.latest ?? sending.latest }
  }

  function recordSuccess(): void {
    failures = 0
    succeededAt = clock.now()
    const lastSuccessAt = iso(succeededAt)
    saving = mirror.memory
      .change(({ lastSuccessAt: before, lastError, waitingSince }) => {
        const isNews = lastError !== null || waitingSince !== null
        if (!isNews && succeededAt - (Date.parse(before ?? '') || 0) < SAVE_SUCCESS_MS) return {}
        return { lastSuccessAt, lastError: null, waitingSince: null }
      })
      .catch(onError)
  }

  function recordFailure(lastError: string): void {
    failures++
    failedAt = clock.now()
    const waitingSince = waiting ? iso(waiting.since) : null
    saving = mirror.memory
      .change((memory) => ({ lastError, waitingSince: memory.waitingSince ?? waitingSince }))
      .catch(onError)
  }

  return {
    changed,
    recordOutcome,
    begin: () => schedule(clock.now() + DEBOUNCE_MS, true),

    async end() {
      drop()
      waiting = undefined
      failures = 0
      await mirror.memory.change(() => ({
        mirror: null,
        stamp: null,
        attempts: [],
        lastError: null,
        waitingSince: null,
      }))
    },

    wake() {
      const isLate = planned !== undefined && clock.now() >= planned.at + DROPPED_MS
      if (isLate) void run()
      return isLate
    },

    async settled() {
      if (isClosed || !(planned?.isForChange || running)) return
      await new Promise<void>((resolve) => void listeners.push(resolve))
    },

    async state() {
      await saving
      const { lastSuccessAt, lastError, waitingSince, conflicts } = await mirror.memory.read()
      const since = Math.min(...[waiting?.since, sending?.since, Date.parse(waitingSince ?? '')].filter(isTime))
      const latest = Math.max(succeededAt, Date.parse(lastSuccessAt ?? '') || Number.NEGATIVE_INFINITY)
      return {
        lastSuccessAt: isTime(latest) ? iso(latest) : null,
        lagMs: isTime(since) ? Math.max(0, clock.now() - since) : 0,
        lastError,
        conflicts,
      }
    },

    async close() {
      isClosed = true
      drop()
      mirror.close()
      for (const listener of listeners.splice(0)) listener()
      await running
      await saving
    },
  }
}

const MIRRORED = [KEYS, GROUPS, CONNECTIONS, COMBOS, CUSTOM_MODELS, ALIASES, PROVIDERS]

const isTime = (ms: number | undefined): ms is number => ms !== undefined && Number.isFinite(ms)

const iso = (ms: number) => new Date(ms).toISOString()
