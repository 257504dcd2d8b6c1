import type { Reply } from '../lib/exchange.ts'
import type { Ledger, LimitedScope } from '../limits/ledger.ts'
import type { ServedRequest, TargetRule } from '../pipeline/steps.ts'
import { accessOf } from '../routing/allowed-models.ts'
import type { PresentedKey } from '../store/keyring.ts'
import type { StoredSettings } from '../store/settings.ts'
import type { Catalog, Clock } from '../types.ts'
import { withinAccess } from './access.ts'
import { createBodyRule } from './body-rule.ts'
import { GatedRequest } from './gated-request.ts'

/** Applies the limits, the allowed models and the allowed kinds to requests. */
export interface Gate {
  /** Serves a request within the limits, models and kinds that apply to it. */
  around(request: ServedRequest, settings: StoredSettings, next: () => Promise<Reply>): Promise<Reply>
}

export function createGate({ ledger, clock, catalog }: { ledger: Ledger; clock: Clock; catalog: Catalog }): Gate {
  /** Serves a request within the limits that apply to it. */
  async function withinLimits(
    request: ServedRequest,
    rules: StoredSettings,
    next: () => Promise<Reply>,
  ): Promise<Reply> {
    const { key } = request
    const scopes = scopesOf(key, rules)
    if (scopes.length === 0) return next()
    const holders = { key: key?.name, group: key?.group?.name }
    const gated = new GatedRequest(request, { ledger, clock, scopes, holders, rules })
    if (gated.isMeasured && !request.log.targetRule) {
      const refusalOfBody = createBodyRule()
      const rule: TargetRule = ({ call }) => refusalOfBody(call)
      request.log.targetRule = rule
    }
    request.log.aroundAttempt.push((attempt, make) => gated.attempt(attempt, make))
    return gated.replied(await next())
  }

  return {
    around(request, rules, next) {
      const access = accessOf(request.key, catalog)
      const serve = () => withinLimits(request, rules, next)
      return access ? withinAccess(request, access, serve) : serve()
    },
  }
}

/** The limits that apply to a request with this key: those of the key, of its group, and of the gateway. */
function scopesOf(key: PresentedKey | undefined, { limits }: StoredSettings): LimitedScope[] {
  const scopes: LimitedScope[] = []
  if (key?.limits) scopes.push({ scope: 'key', id: key.id, limits: key.limits })
  if (key?.group?.limits) scopes.push({ scope: 'group', id: key.group.id, limits: key.group.limits })
  if (limits) scopes.push({ scope: 'gateway', id: '', limits })
  return scopes
}
