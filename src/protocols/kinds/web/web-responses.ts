import { isObject, type JsonObject } from '../../../lib/json.ts'
import type { PricedUnit } from '../../../types.ts'
import type { EmbeddedError, TokenUsage } from '../../formats/format.ts'

/** The format of a page's content. */
export type PageFormat = 'markdown' | 'html' | 'text'

/** Returns the requested format if the vendor supports it, or else the vendor's first format. */
export const pickFormat = (requested: PageFormat, formats: readonly [PageFormat, ...PageFormat[]]): PageFormat =>
  formats.includes(requested) ? requested : formats[0]

/** The charge for a request, as far as the vendor reports it. */
export interface VendorCharge {
  credits?: number | undefined
  tokens?: number | undefined
  costUsd?: number | undefined
}

/** Adds up the charges for several calls. Omits an amount unless every call has it. */
export const addCharges = (charges: readonly VendorCharge[]): VendorCharge => ({
  credits: addAmounts(charges.map(({ credits }) => credits)),
  tokens: addAmounts(charges.map(({ tokens }) => tokens)),
  costUsd: addAmounts(charges.map(({ costUsd }) => costUsd)),
})

const addAmounts = (amounts: ReadonlyArray<number | undefined>): number | undefined =>
  amounts.reduce((sum, amount) => (sum === undefined || amount === undefined ? undefined : sum + amount), 0)

/**
 * Returns the usage of calls that are charged per operation: the credits or tokens that the vendor reports, or else `units`. If there is `content`,
 * ignores a report of all zeros.
 */
export function toUsage(
  units: Readonly<Partial<Record<PricedUnit, number>>>,
  charge: VendorCharge,
  content: readonly unknown[],
): TokenUsage {
  const amounts = [charge.credits, charge.tokens, charge.costUsd].filter((amount) => amount !== undefined)
  if (amounts.length > 0 && content.length > 0 && amounts.every((amount) => amount === 0))
    return { inputTokens: 0, outputTokens: 0, units, isEstimated: true }
  const { credits, tokens, costUsd } = charge
  const chargedUnits: TokenUsage['units'] =
    tokens !== undefined ? undefined : credits === undefined ? units : { credit: credits }
  return {
    inputTokens: tokens ?? 0,
    outputTokens: 0,
    ...(chargedUnits && { units: chargedUnits }),
    ...(costUsd !== undefined && { costUsd }),
  }
}

/** Returns a field's value if it is a list, or `undefined` if it isn't. */
export const getList = (json: unknown, name: string): readonly unknown[] | undefined => {
  const list = isObject(json) ? json[name] : undefined
  return Array.isArray(list) ? list : undefined
}

/** Returns the object in a field, or an empty one. */
export const getObject = (json: JsonObject, name: string): JsonObject => {
  const value = json[name]
  return isObject(value) ? value : {}
}

/** Returns whether a status is about the page. Any other status means that the page's server rejected the vendor, or failed. */
export const isPageStatus = (status: number): boolean => status < 400 || status === 404 || status === 410

/** Returns the error for a page that a vendor couldn't read. The vendor isn't at fault, and another vendor may be able to read the page. */
export const createPageError = (message: string): EmbeddedError => ({
  status: 422,
  message,
  error: { message, type: 'invalid_request_error' },
})
