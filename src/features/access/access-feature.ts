import type { Feature } from '../../feature.ts'
import type { Reply } from '../../lib/exchange.ts'
import type { ClientKey } from '../../records/key-lookup.ts'
import type { RouteRequest } from '../../request/route-request.ts'
import type { RequestStep } from '../../request/steps.ts'
import type { Catalog } from '../../types.ts'
import type { Access } from './allowed-models.ts'

/** Rejects requests that their key doesn't allow. Its code is loaded with the first request of a restricted key. */
export interface AccessFeature extends Feature {
  aroundRequest: RequestStep
  /** Returns what a key may use; `undefined` if nothing is restricted. */
  getAccess(key: ClientKey | undefined): Promise<Access | undefined>
}

export function createAccess(catalog: Catalog): AccessFeature {
  let loaded: typeof import('./enforce-access.ts') | undefined

  async function enforce(request: RouteRequest, key: ClientKey, next: () => Promise<Reply>): Promise<Reply> {
    loaded ??= await request.log.client.scope.race(import('./enforce-access.ts'))
    return loaded.enforceAccess(request, { key, catalog }, next)
  }

  return {
    name: 'access',
    aroundRequest: (request, next) => (isRestricted(request.key) ? enforce(request, request.key, next) : next()),
    async getAccess(key) {
      if (!isRestricted(key)) return undefined
      const { Access } = await import('./allowed-models.ts')
      return new Access(key, catalog)
    },
  }
}

/** Whether the key or its group allows only some models or kinds. */
export const isRestricted = (key: ClientKey | undefined): key is ClientKey =>
  (key?.models ?? key?.kinds ?? key?.group?.models ?? key?.group?.kinds) !== undefined
