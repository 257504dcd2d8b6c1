import type { Reply } from '../../lib/exchange.ts'
import { createExpiringMap } from '../../lib/maps.ts'
import type { StoredSettings } from '../../records/stored-settings.ts'
import type { Caller, CallerAccount } from '../../request/caller.ts'
import type { RouteRequest } from '../../request/route-request.ts'
import type { RouteTarget } from '../../request/routing/group.ts'
import type { RejectionPreview, TargetRule } from '../../request/steps.ts'
import type { Catalog, Clock, Logger } from '../../types.ts'
import { isRestricted } from '../access/access-feature.ts'
import { createBodyRule } from '../access/body-rule.ts'
import { GatedRequest } from './gated-request.ts'
import type { Ledger, LimitedScope } from './ledger/ledger.ts'
import type { Holders } from './limit-errors.ts'
import { createPreview } from './preview.ts'
import { describeMissingPrice } from './price-advice.ts'

/** Enforces limits on requests. */
export interface Gate {
  /** Serves a request if its limits allow it. */
  aroundRequest(request: RouteRequest, settings: StoredSettings, next: () => Promise<Reply>): Promise<Reply>
  /** Reads the counters that a request from this caller needs, if they aren't in memory. Never throws. */
  prepare(caller: LimitedCaller): void
  /** Creates a preview of whether and why limits would reject a request from this caller, without sending it. */
  preview(caller: Caller, settings: StoredSettings): RejectionPreview
}

/** The parts of a caller that can have limits. */
type LimitedCaller = Pick<Caller, 'key' | 'token'> & {
  account: Pick<CallerAccount, 'ref' | 'limits' | 'plan'> | undefined
}

interface GateDependencies {
  catalog: Catalog
  logger: Logger
  ledger: Ledger
  clock: Clock
}

/** Minimum interval between warnings about the same unpriced target, in ms. */
const WARNING_PERIOD_MS = 60 * 60 * 1_000
const MAX_WARNINGS = 1_000

export function createGate({ ledger, clock, catalog, logger }: GateDependencies): Gate {
  const warnedTargets = createExpiringMap<true>({ clock, ttlMs: WARNING_PERIOD_MS, maxSize: MAX_WARNINGS })
  function warnAboutPrice(target: RouteTarget): void {
    const name = `${target.connection.id} ${target.model}`
    if (warnedTargets.get(name)) return
    warnedTargets.set(name, true)
    logger.warn(describeMissingPrice(catalog, target))
  }

  return {
    async aroundRequest(request, rules, next) {
      const { caller } = request
      const scopes = listLimitedScopes(caller, rules)
      if (scopes.length === 0) return next()
      const holders = getHolders(caller)
      const gatedRequest = new GatedRequest(request, { ledger, clock, scopes, holders, rules, warnAboutPrice })
      if (gatedRequest.hasUsageLimits && !isRestricted(caller)) {
        // the access feature has already added the same rule for restricted callers
        const checkBody = createBodyRule()
        const rule: TargetRule = ({ call }) => checkBody(call)
        request.log.targetRules.push(rule)
      }
      if (request.callsModel) request.log.beforeCallSteps.push(() => gatedRequest.reserveRequest())
      else {
        await gatedRequest.reserveRequest()
        request.log.beforeCharge.push((usd) => gatedRequest.reserveCharge(usd))
      }
      request.log.aroundAttempt.push((attempt, next) => gatedRequest.aroundAttempt(attempt, next))
      return gatedRequest.completeReply(await next())
    },
    prepare: (caller) => ledger.prepare(listLimitedScopes(caller, {})),
    preview: (caller, rules) =>
      createPreview({
        ledger,
        clock,
        scopes: listLimitedScopes(caller, rules),
        holders: getHolders(caller),
        rules,
        isRestricted: isRestricted(caller),
      }),
  }
}

const getHolders = ({ key, account }: Caller): Holders => ({
  key: key?.name,
  group: key?.group?.name,
  plan: account?.plan?.name,
})

/** Lists a caller's limits by scope: its key, the key's group, its account, the account's plan, its token, and the gateway. */
export function listLimitedScopes(
  { key, account, token }: LimitedCaller,
  { limits }: Pick<StoredSettings, 'limits'>,
): LimitedScope[] {
  const scopes: LimitedScope[] = []
  const group = key?.group
  const plan = account?.plan
  if (key?.limits) scopes.push({ scope: 'key', id: key.id, limits: key.limits })
  if (group?.limits) scopes.push({ scope: 'group', id: group.id, limits: group.limits })
  if (account?.limits) scopes.push({ scope: 'account', id: account.ref, limits: account.limits })
  if (plan?.limits && plan.id !== group?.id) scopes.push({ scope: 'group', id: plan.id, limits: plan.limits })
  if (token?.limits) scopes.push({ scope: 'run', id: token.id, limits: token.limits })
  if (limits) scopes.push({ scope: 'gateway', id: '', limits })
  return scopes
}
