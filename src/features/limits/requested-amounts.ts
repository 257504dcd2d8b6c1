import type { Surcharge } from '../../pricing/surcharge-fields.ts'
import type { WorstCase } from '../../pricing/worst-case.ts'
import { getTargetName } from '../../protocols/providers/target.ts'
import type { StoredSettings } from '../../records/stored-settings.ts'
import type { AttemptControls } from '../../request/steps.ts'
import type { LimitUnit } from '../../types/limits.ts'
import type { Amounts, LimitedScope, RequestedAmounts } from './ledger/ledger.ts'
import { createUnknownPriceError } from './limit-errors.ts'

/** The settings that control how limits are enforced. */
export type LimitRules = Pick<StoredSettings, 'whenPriceUnknown' | 'onStorageUnavailable'>

/** A request and its target. */
interface LimitedAttempt {
  request: { call: Pick<AttemptControls['request']['call'], 'endpoint'> }
  target: AttemptControls['target']
}

/** Estimates an attempt's worst case in the limited units. Throws `REQUEST_TOO_EXPENSIVE` if a required price is unknown. */
export function estimateRequestedAmounts(
  { request: { call }, target }: LimitedAttempt,
  { inputTokens, outputTokens, choices, isOutputRequested, usd }: WorstCase,
  { isPriced, rules }: { isPriced: boolean; rules: LimitRules },
): RequestedAmounts {
  if (isPriced && !usd && rules.whenPriceUnknown !== 'allow') throw createUnknownPriceError(getTargetName(target))
  const fixed: Amounts = { tokens: inputTokens }
  if (isPriced) fixed.usd = usd?.fixed ?? 0
  const isOutputFixed = isOutputRequested || !call.endpoint.limitsOutput
  const minTokens = isOutputFixed ? outputTokens : Math.min(outputTokens, MIN_OUTPUT * choices)
  return {
    fixed,
    output: { tokens: outputTokens, minTokens, usdPerToken: isPriced ? (usd?.perOutputToken ?? 0) : 0 },
  }
}

/** Throws `REQUEST_TOO_EXPENSIVE` if a request field makes the price unknown. */
export function requireKnownPrice(
  target: AttemptControls['target'],
  surcharge: Surcharge | undefined,
  { whenPriceUnknown }: LimitRules,
): void {
  if (surcharge && whenPriceUnknown !== 'allow') throw createUnknownPriceError(getTargetName(target), surcharge.field)
}

/** Returns the minimum amount of a unit that a request needs. */
export function getMinimumAmount(unit: LimitUnit, { fixed, output }: RequestedAmounts): number {
  if (unit !== 'tokens' && unit !== 'usd') return 1
  const { minTokens = 0, usdPerToken = 0 } = output ?? {}
  return (fixed[unit] ?? 0) + minTokens * (unit === 'tokens' ? 1 : usdPerToken)
}

export const isLimited = (unit: LimitUnit, scopes: readonly LimitedScope[]): boolean =>
  scopes.some(({ limits }) => limits[unit] !== undefined)

/** The amounts that each request reserves regardless of its target. */
export const REQUEST_AMOUNTS: Amounts = { requests: 1, parallel: 1 }
/** The units whose amounts depend on the target. */
export const USAGE_UNITS: ReadonlyArray<'tokens' | 'usd'> = ['tokens', 'usd']

/** The minimum output to reserve, in tokens. A shorter response would be useless. */
const MIN_OUTPUT = 1_024
