import type { BuiltInFeature } from '../../feature.ts'
import type { Reply } from '../../lib/exchange.ts'
import type { Caller, ModelPermissions } from '../../request/caller.ts'
import type { RouteRequest } from '../../request/route-request.ts'
import type { RequestStep } from '../../request/steps.ts'
import type { Catalog } from '../../types.ts'
import type { Access } from './allowed-models.ts'

/** Rejects requests that the caller isn't allowed to make. Its code loads on the first request from a restricted caller. */
export interface AccessFeature extends BuiltInFeature {
  aroundRequest: RequestStep
  /** Returns the models, kinds, and connections that a caller may use, or `undefined` for no restrictions. */
  getAccess(caller: Caller): Promise<Access | undefined>
}

export function createAccessFeature(catalog: Catalog): AccessFeature {
  let enforcementModule: typeof import('./enforce-access.ts') | undefined

  async function enforce(request: RouteRequest, next: () => Promise<Reply>): Promise<Reply> {
    enforcementModule ??= await request.log.client.scope.race(import('./enforce-access.ts'))
    return enforcementModule.enforceAccess(request, catalog, next)
  }

  return {
    name: 'access',
    aroundRequest: (request, next) => (needsChecks(request.caller) ? enforce(request, next) : next()),
    async getAccess(caller) {
      if (!needsChecks(caller)) return undefined
      const { Access } = await import('./allowed-models.ts')
      return new Access(caller, catalog)
    },
  }
}

/** Returns whether the key, its group, the token, the account, or its plan restricts models or kinds. */
export const isRestricted = ({ key, account, token }: Caller): boolean =>
  hasModelRestrictions(key) ||
  hasModelRestrictions(key?.group) ||
  hasModelRestrictions(token) ||
  hasModelRestrictions(account?.plan) ||
  account?.allowed !== undefined

const hasModelRestrictions = (permissions: ModelPermissions | undefined) =>
  (permissions?.models ?? permissions?.kinds) !== undefined

/** Returns whether the caller is restricted or has a data policy. */
const needsChecks = (caller: Caller) =>
  isRestricted(caller) ||
  [caller.key, caller.key?.group, caller.token, caller.account].some(
    (permissions) => permissions?.require !== undefined,
  )
