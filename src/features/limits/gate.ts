import type { Reply } from '../../lib/exchange.ts'
import type { ClientKey } from '../../records/key-lookup.ts'
import type { StoredSettings } from '../../records/stored-settings.ts'
import type { RouteRequest } from '../../request/route-request.ts'
import type { RefusalPreview, TargetRule } from '../../request/steps.ts'
import type { Clock } from '../../types.ts'
import { isRestricted } from '../access/access-feature.ts'
import { createBodyRule } from '../access/body-rule.ts'
import { GatedRequest } from './gated-request.ts'
import type { Ledger, LimitedScope } from './ledger/ledger.ts'
import type { Holders } from './limit-errors.ts'
import { createPreview } from './preview.ts'

/** Applies limits to requests. */
export interface Gate {
  /** Serves a request within the limits that apply to it. */
  around(request: RouteRequest, settings: StoredSettings, next: () => Promise<Reply>): Promise<Reply>
  /** Tells whether and why a request with this key would be rejected, without making it. */
  preview(key: ClientKey, settings: StoredSettings): RefusalPreview
}

interface GateTerms {
  ledger: Ledger
  clock: Clock
  /** Whether steps around model calls may reply in place of a provider. */
  admitsCalls: boolean
}

export function createGate({ ledger, clock, admitsCalls }: GateTerms): Gate {
  return {
    async around(request, rules, next) {
      const { key } = request
      const scopes = listScopes(key, rules)
      if (scopes.length === 0) return next()
      const holders = getHolders(key)
      const gated = new GatedRequest(request, { ledger, clock, scopes, holders, rules })
      if (gated.isMeasured && !isRestricted(key)) {
        // otherwise, the access feature has added the same rule
        const refusalOfBody = createBodyRule()
        const rule: TargetRule = ({ call }) => refusalOfBody(call)
        request.log.targetRules.push(rule)
      }
      if (request.route.operation.kind === undefined) await gated.admit()
      else if (admitsCalls) request.log.aroundCall.push(async (_, call) => gated.admit().then(() => call()))
      request.log.aroundAttempt.push((attempt, make) => gated.attempt(attempt, make))
      return gated.replied(await next())
    },
    preview: (key, rules) =>
      createPreview({
        ledger,
        clock,
        scopes: listScopes(key, rules),
        holders: getHolders(key),
        rules,
        isRestricted: isRestricted(key),
      }),
  }
}

const getHolders = (key: ClientKey | undefined): Holders => ({ key: key?.name, group: key?.group?.name })

/** The limits that apply to a request with this key: the key's, its group's, and the gateway's. */
export function listScopes(key: ClientKey | undefined, { limits }: StoredSettings): LimitedScope[] {
  const scopes: LimitedScope[] = []
  if (key?.limits) scopes.push({ scope: 'key', id: key.id, limits: key.limits })
  if (key?.group?.limits) scopes.push({ scope: 'group', id: key.group.id, limits: key.group.limits })
  if (limits) scopes.push({ scope: 'gateway', id: '', limits })
  return scopes
}
