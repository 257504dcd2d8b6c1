import type { Clock, Storage, Stored } from '../types.ts'
import {
  ACCOUNT_LIMITS_END,
  ALIASES_PREFIX,
  COMBOS_PREFIX,
  CONNECTIONS_PREFIX,
  CUSTOM_MODELS_PREFIX,
  GROUPS_PREFIX,
  KEYRING_KEY,
  KEYS_PREFIX,
  LIMITS,
  PROVIDERS_PREFIX,
  SETTINGS_KEY,
} from './record-collections.ts'
import { PAGE_SIZE } from './stored-records.ts'

const LISTED_PREFIXES = [CONNECTIONS_PREFIX, COMBOS_PREFIX, ALIASES_PREFIX, CUSTOM_MODELS_PREFIX, PROVIDERS_PREFIX]

/** Records that a request reads one by one. */
const LOOKUPS = [{ prefix: KEYS_PREFIX }, { prefix: GROUPS_PREFIX }, { prefix: LIMITS, after: ACCOUNT_LIMITS_END }]

/** How many records of each lookup are read ahead. In a small store, that is all of them. */
const MAX_LOOKUPS = 100

/** How many times a first request reads the keyring and the settings. */
const MAX_USES = 2

/** How long a result may be used, in ms. */
const MAX_AGE_MS = 1_000

/**
 * Reads everything that a first request needs as soon as the keyring is first read. In a remote storage, each read takes a round trip, and successive
 * round trips add up. A result is only used within a second, and never after a write. `maxAgeMs` is how old a request's data may be.
 */
export function withReadAhead(storage: Storage, clock: Clock, maxAgeMs = MAX_AGE_MS): Storage {
  const lookedUp = storage.atomic && maxAgeMs >= MAX_AGE_MS ? LOOKUPS : []
  let ahead: ReturnType<typeof start> | undefined
  let startedAt: number | undefined // in epoch ms

  function start() {
    startedAt = clock.now()
    const gets = [KEYRING_KEY, SETTINGS_KEY].map((key) => [key, { uses: 0, work: storage.get(key) }] as const)
    const lists = LISTED_PREFIXES.map(
      (prefix) => [prefix, { uses: 1, work: storage.list(prefix, { limit: PAGE_SIZE }) }] as const,
    )
    const lookups = lookedUp.map(({ prefix, after }) => ({
      isFor: (key: string) => key.startsWith(prefix) && (after === undefined || key > after),
      used: new Set<string>(),
      work: storage.list(prefix, { limit: MAX_LOOKUPS, ...(after !== undefined && { after }) }),
    }))
    for (const { work } of [...[...gets, ...lists].map(([, pending]) => pending), ...lookups])
      Promise.resolve(work).catch(() => {}) // the reader receives the rejection
    return { gets: new Map(gets), lists: new Map(lists), lookups }
  }

  function getAhead() {
    if (clock.now() - (startedAt ?? 0) >= MAX_AGE_MS) ahead = undefined
    return ahead
  }

  function take<Work>(reads: Map<string, { uses: number; work: Work }> | undefined, key: string): Work | undefined {
    const pending = reads?.get(key)
    if (pending && ++pending.uses >= MAX_USES) reads?.delete(key)
    return pending?.work
  }

  /** Reads a record. The first read uses the record that was read ahead. */
  async function lookUp(key: string): Promise<Stored | undefined> {
    const pending = getAhead()?.lookups.find(({ isFor }) => isFor(key))
    if (!pending || pending.used.has(key)) return storage.get(key)
    pending.used.add(key)
    const records = await pending.work.catch(() => undefined)
    const record = records?.find((item) => item.key === key)
    // If other instances have created the counters since, the conditional write fails, and they are read again.
    const isNewScope = key.startsWith(LIMITS) && records !== undefined && records.length < MAX_LOOKUPS
    return record || isNewScope ? record : storage.get(key)
  }

  return {
    ...storage,
    get(key) {
      if (startedAt === undefined && key === KEYRING_KEY) ahead = start()
      const work = take(getAhead()?.gets, key)
      return work ? work.then((stored) => stored ?? storage.get(key)) : lookUp(key)
    },
    list: (prefix, range) =>
      (range?.after === undefined && range?.limit === PAGE_SIZE && take(getAhead()?.lists, prefix)) ||
      storage.list(prefix, range),
    set(...args) {
      ahead = undefined
      return storage.set(...args)
    },
    delete(...args) {
      ahead = undefined
      return storage.delete(...args)
    },
  }
}
