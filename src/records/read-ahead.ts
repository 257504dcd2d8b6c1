import type { Clock, Storage } from '../types.ts'
import { ALIASES, COMBOS, CONNECTIONS, CUSTOM_MODELS, KEYRING, PROVIDERS, SETTINGS } from './record-collections.ts'
import { PAGE } from './stored-records.ts'

const LISTS = [CONNECTIONS, COMBOS, ALIASES, CUSTOM_MODELS, PROVIDERS]

/** How often a first request reads the keyring and the settings. */
const MAX_USES = 2

/** How long a result may be used, in ms. */
const MAX_AGE_MS = 1_000

/**
 * Reads everything that a first request needs when the keyring is first read. In a remote storage, each read takes a round trip, and one after the
 * other they add up. A result is used only within a second, and not after a write.
 */
export function withReadAhead(storage: Storage, clock: Clock): Storage {
  let ahead: ReturnType<typeof start> | undefined
  let startedAt: number | undefined // epoch ms

  function start() {
    startedAt = clock.now()
    const gets = [KEYRING, SETTINGS].map((key) => [key, { uses: 0, work: storage.get(key) }] as const)
    const lists = LISTS.map((prefix) => [prefix, { uses: 1, work: storage.list(prefix, { limit: PAGE }) }] as const)
    for (const [, { work }] of [...gets, ...lists]) Promise.resolve(work).catch(() => {}) // the reader gets the rejection
    return { gets: new Map(gets), lists: new Map(lists) }
  }

  function take<Work>(reads: Map<string, { uses: number; work: Work }> | undefined, key: string): Work | undefined {
    const pending = reads?.get(key)
    if (!pending || clock.now() - (startedAt ?? 0) >= MAX_AGE_MS) return undefined
    if (++pending.uses >= MAX_USES) reads?.delete(key)
    return pending.work
  }

  return {
    ...storage,
    get(key) {
      if (startedAt === undefined && key === KEYRING) ahead = start()
      const work = take(ahead?.gets, key)
      return work ? work.then((stored) => stored ?? storage.get(key)) : storage.get(key)
    },
    list: (prefix, range) =>
      (range?.after === undefined && range?.limit === PAGE && take(ahead?.lists, prefix)) ||
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
