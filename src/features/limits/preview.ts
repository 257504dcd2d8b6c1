import { type GatewayError, gatewayError, isGatewayError } from '../../errors.ts'
import { findBodySurcharge } from '../../pricing/surcharge-fields.ts'
import { findPricedTier, getWorstCase } from '../../pricing/worst-case.ts'
import { getPrice } from '../../protocols/providers/catalog-model.ts'
import type { RejectionPreview } from '../../request/steps.ts'
import type { Clock, LimitState } from '../../types.ts'
import { createBodyRule } from '../access/body-rule.ts'
import type { Ledger, LimitedScope, LimitRejection, RequestedAmounts } from './ledger/ledger.ts'
import { createLimitError, type Holders } from './limit-errors.ts'
import { describeMissingPrice } from './price-advice.ts'
import {
  estimateRequestedAmounts,
  getMinimumAmount,
  isLimited,
  type LimitRules,
  REQUEST_AMOUNTS,
  requireKnownPrice,
  USAGE_UNITS,
} from './requested-amounts.ts'

interface PreviewOptions {
  ledger: Ledger
  clock: Clock
  scopes: readonly LimitedScope[]
  holders: Holders
  rules: LimitRules
  /** Whether the key may use only some models or kinds. */
  isRestricted: boolean
}

/** Creates a preview of whether limits would reject a request, without sending the request or reserving anything. */
export function createPreview({
  ledger,
  clock,
  scopes,
  holders,
  rules,
  isRestricted,
}: PreviewOptions): RejectionPreview {
  const hasUsageLimits = USAGE_UNITS.some((unit) => isLimited(unit, scopes))
  const isPriced = isLimited('usd', scopes)
  const checkBody = createBodyRule()

  function toError(rejection: LimitRejection, requested: RequestedAmounts, limitsOutput: boolean): GatewayError {
    if (rejection.why === 'used-up') return createUsedUpError(rejection.limit)
    const neededAmount = getMinimumAmount(rejection.limit.unit, requested)
    return createLimitError(rejection, { neededAmount, limitsOutput, holders, now: clock.now(), headers: {} })
  }

  return async (request, target) => {
    const { call } = request
    const bodyError = hasUsageLimits || isRestricted ? checkBody(call) : undefined
    if (bodyError) return { error: bodyError, rejectsRequest: true }
    try {
      const requestedAmounts = hasUsageLimits
        ? estimateRequestedAmounts({ request, target }, getWorstCase(request, target), { isPriced, rules })
        : { fixed: {} }
      if (isPriced) {
        const pricedTier = findPricedTier(request, target)
        requireKnownPrice(target, findBodySurcharge(call.body, { pricedTier }), rules)
      }
      Object.assign(requestedAmounts.fixed, REQUEST_AMOUNTS)
      const rejection = await ledger.preview(scopes, requestedAmounts)
      if (!rejection) return undefined
      const { unit } = rejection.limit
      return {
        error: toError(rejection, requestedAmounts, call.endpoint.limitsOutput === true),
        rejectsRequest: unit === 'requests' || unit === 'parallel',
      }
    } catch (error) {
      if (!isGatewayError(error, 'REQUEST_TOO_EXPENSIVE')) throw error
      const { catalog } = request.context
      const advice = getPrice(catalog, target) ? undefined : describeMissingPrice(catalog, target)
      return { error, rejectsRequest: false, ...(advice !== undefined && { advice }) }
    }
  }
}

/** Creates the error for a limit that is used up, worded for the operator. */
function createUsedUpError({ scope, unit, window, limit, resetsAt }: LimitState): GatewayError {
  const isBudget = (unit === 'tokens' || unit === 'usd') && window !== 'minute' && window !== 'hour'
  const name = window === null ? unit : `${unit}.${window}`
  const until = resetsAt === null ? '' : ` until ${resetsAt}`
  return gatewayError(isBudget ? 'BUDGET_EXCEEDED' : 'RATE_LIMIT_EXCEEDED', {
    message: `The ${scope}'s limit "${name}" of ${limit} is used up${until}.`,
  })
}
