import type { FeatureOperations } from '../admin/operation-table.ts'
import type { BuiltInFeature } from '../feature.ts'
import { createCloudStart } from '../features/cloud-sync/gateway/cloud-start.ts'
import type { Exchange } from '../lib/exchange.ts'
import { once } from '../lib/promises.ts'
import { deferManagement } from './deferred-management.ts'
import type { ManagementFeatureDependencies } from './open-management.ts'
import type { Management } from './operations.ts'

/** The management API, in process and under `/api`. Its code is loaded on the first call. */
export interface ManagementFeature extends BuiltInFeature {
  readonly api: Management<unknown>
  /** Starts cloud sync on the first request, if it is on. */
  resume(exchange?: Exchange): Promise<void>
}

export function createManagementFeature(deps: ManagementFeatureDependencies): ManagementFeature {
  const { features, store, clock } = deps
  const getOperations = () => collectOperations(features())
  let endLive = () => {}
  const load = once(async () => {
    const { openManagement } = await import('./open-management.ts')
    const openedApi = openManagement(deps, {
      operations: getOperations(),
      getStartTime: () => cloudStart.startedAt ?? clock.now(),
      resume,
    })
    cloudStart.pushes = openedApi.pushes
    endLive = openedApi.endLive
    return openedApi
  })
  const cloudStart = createCloudStart({ settings: store.settings, clock, load })
  const { resume } = cloudStart
  const createApi = () =>
    deferManagement(async () => {
      const { api } = await load()
      await resume()
      return api
    }, getOperations())
  let api: ReturnType<typeof createApi> | undefined

  return {
    name: 'management',
    areas: [{ path: '/api', serve: async ({ path, exchange }) => (await load()).serve(path, exchange) }],
    get api() {
      api ??= createApi()
      return api
    },
    resume,
    async close() {
      endLive()
      await cloudStart.pushes?.close()
    },
  }
}

/** Returns the operations that features add to the management API. */
export const collectOperations = (features: readonly BuiltInFeature[]): FeatureOperations =>
  Object.assign({}, ...features.map(({ operations }) => operations)) // features define their operations with valibot schemas
