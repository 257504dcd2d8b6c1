import type { BuiltInFeature } from '../../feature.ts'
import type { Store } from '../../records/store.ts'
import type { RequestLog } from '../../request/request-log.ts'
import { createStoredRequest } from './stored-request.ts'
import { createUsageStore, type UsageStore, type UsageStoreOptions } from './usage.ts'

interface UsageDependencies
  extends Pick<UsageStoreOptions, 'clock' | 'logger' | 'startTimer' | 'nextTurn' | 'onError'> {
  storesUsage: boolean
  store: Store
}

/** Stores a record of each request when the request ends. */
export interface UsageFeature extends BuiltInFeature {
  readonly store: UsageStore
}

/** Creates the feature. Returns `undefined` if the gateway doesn't store usage. */
export function createUsage({ storesUsage, store, ...deps }: UsageDependencies): UsageFeature | undefined {
  if (!storesUsage) return undefined
  const { storage, freshness, settings } = store
  const usage = createUsageStore({ ...deps, storage, freshness, readSettings: settings.read })
  return {
    name: 'usage',
    events: {
      ended(log: RequestLog) {
        if (log.ending) usage.storeRequest(createStoredRequest(log, log.ending), log.waitUntil)
      },
    },
    close: () => usage.close(),
    store: usage,
  }
}
