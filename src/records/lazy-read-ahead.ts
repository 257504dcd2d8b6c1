import { getSettledValue, once } from '../lib/promises.ts'
import type { Storage } from '../types.ts'
import type { ReadAheadOptions } from './read-ahead.ts'
import type { ListedCaller } from './reading-lists.ts'

/** The callers whose records are read ahead in a store without `watch`. */
export interface ExpectedCallers {
  /** Reads a caller's records ahead, once per instance. Pass its credential or the ID of its account, or both. Never throws. */
  preload(credential: string | undefined, account?: string): void
  /** Stores which records a caller has, once per caller, for the next instance. `run` receives the work, which never rejects. Never throws. */
  saveReadingList(
    caller: ListedCaller,
    listCredentials: () => readonly string[],
    run: (work: Promise<void>) => void,
  ): void
}

/** Adds `withReadAhead` to a store. Its code is loaded with the first operation, because most stores report changes and don't need it. */
export function createLazyReadAhead(options: ReadAheadOptions): { storage: Storage; callers?: ExpectedCallers } {
  const { getLinked, ...storage } = options.storage
  const load = once(async () => (await import('./read-ahead.ts')).withReadAhead(options))
  const loadReadAhead = async () => getSettledValue(load()) ?? (await load())
  const ignoreError = () => {} // the first read reports the failure
  return {
    storage: {
      ...storage,
      get: async (...args) => (await loadReadAhead()).storage.get(...args),
      set: async (...args) => (await loadReadAhead()).storage.set(...args),
      delete: async (...args) => (await loadReadAhead()).storage.delete(...args),
      list: async (...args) => (await loadReadAhead()).storage.list(...args),
    },
    ...(getLinked && {
      callers: {
        preload: (...args) => void loadReadAhead().then(({ preload }) => preload?.(...args), ignoreError),
        saveReadingList: (...args) =>
          void loadReadAhead().then(({ saveReadingList }) => saveReadingList?.(...args), ignoreError),
      },
    }),
  }
}
