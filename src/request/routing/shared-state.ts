import { gatewayError } from '../../errors.ts'
import { startDeadline } from '../../lib/deadline.ts'
import { evictOldest } from '../../lib/maps.ts'
import type { Clock, Storage, Stored } from '../../types.ts'

/** The state that routing keeps between requests. No method throws or rejects. */
export interface SharedState {
  read(key: string): Promise<Stored | undefined>
  /** Returns the new version, or `false` if another write came first. */
  write(key: string, value: string, options: { ifVersion?: string | null; ttlMs?: number }): Promise<string | false>
  /** Deletes the key and all keys under it: `<key>/…`. */
  drop(key: string): Promise<void>
  /** Lists all entries under the key. */
  list(key: string): Promise<ReadonlyArray<{ key: string; value: string }>>
}

/** Maximum number of keys, because they contain strings from clients. The oldest are dropped first. */
const MAX_KEYS = 10_000

/** Creates state in this instance's memory. */
export function createLocalState(clock: Clock): SharedState {
  const values = new Map<string, Stored & { expiresAt: number }>()
  let writeCount = 0

  function find(key: string) {
    const stored = values.get(key)
    if (stored && stored.expiresAt > clock.now()) return stored
    values.delete(key)
    return undefined
  }

  return {
    read: async (key) => find(key),
    async write(key, value, { ifVersion, ttlMs = Number.POSITIVE_INFINITY }) {
      if (ifVersion !== undefined && (find(key)?.version ?? null) !== ifVersion) return false
      if (!values.has(key)) evictOldest(values, MAX_KEYS)
      const version = String(++writeCount)
      values.set(key, { value, version, expiresAt: clock.now() + ttlMs })
      return version
    },
    async drop(key) {
      for (const value of values.keys()) if (value === key || value.startsWith(`${key}/`)) values.delete(value)
    },
    async list(key) {
      const nestedEntries = [...values].filter(([entryKey]) => entryKey.startsWith(`${key}/`))
      return nestedEntries.map(([key, { value }]) => ({ key, value }))
    },
  }
}

/** Storage timeout, in ms. A slower store is treated as failed. */
const MAX_WAIT_MS = 2_000
/** How long a failed storage isn't used, in ms, because each attempt may take seconds. */
const PAUSE_MS = 1_000

/** Creates state in an `atomic` storage that all its instances share. While the storage fails, each instance keeps its own state. */
export function createStoredState(
  storage: Storage,
  { clock, onError }: { clock: Clock; onError(error: unknown): void },
): SharedState {
  const localState = createLocalState(clock)
  let pausedUntil = Number.NEGATIVE_INFINITY

  async function runOrFallBack<T>(work: () => Promise<T>, fallback: () => Promise<T>): Promise<T> {
    try {
      return await withTimeout(work(), clock)
    } catch (error) {
      pausedUntil = clock.now() + PAUSE_MS
      onError(error)
      return fallback()
    }
  }

  const isPaused = () => clock.now() < pausedUntil

  return {
    read(key) {
      const fallBack = () => localState.read(key)
      return isPaused() ? fallBack() : runOrFallBack(() => storage.get(ROUTING_PREFIX + key), fallBack)
    },
    write(key, value, options) {
      if (isPaused()) return localState.write(key, value, options)
      const { ttlMs } = options // omits `ifVersion`, because the storage's versions have no meaning in memory
      const fallBack = () => localState.write(key, value, ttlMs === undefined ? {} : { ttlMs })
      return runOrFallBack(
        () => storage.set(ROUTING_PREFIX + key, value, { ...options, durability: 'relaxed' }),
        fallBack,
      )
    },
    async drop(key) {
      await localState.drop(key)
      await runOrFallBack(
        async () => {
          await storage.delete(ROUTING_PREFIX + key)
          for (const nestedEntry of await storage.list(`${ROUTING_PREFIX}${key}/`))
            await storage.delete(nestedEntry.key)
        },
        async () => {},
      )
    },
    list(key) {
      const fallBack = () => localState.list(key)
      if (isPaused()) return fallBack()
      return runOrFallBack(async () => {
        const nestedEntries = await storage.list(`${ROUTING_PREFIX}${key}/`)
        return nestedEntries.map(({ key, value }) => ({ key: key.slice(ROUTING_PREFIX.length), value }))
      }, fallBack)
    },
  }
}

function withTimeout<T>(work: Promise<T>, clock: Clock): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancelDeadline = startDeadline(clock, MAX_WAIT_MS, () =>
      reject(
        gatewayError('STORAGE_FAILED', { message: `The storage did not respond within ${MAX_WAIT_MS / 1_000} s.` }),
      ),
    )
    work.finally(cancelDeadline).then(resolve, reject)
  })
}

const ROUTING_PREFIX = 'routing/'
