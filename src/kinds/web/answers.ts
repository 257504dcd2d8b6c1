import type { EmbeddedError, TokenUsage } from '../../formats/format.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import type { PricedUnit } from '../../types.ts'

/** The form in which the text of a page is given. */
export type PageFormat = 'markdown' | 'html' | 'text'

/** The form in which a vendor gives pages: the one that is asked for, else the first of its own. */
export const formatAmong = (asked: PageFormat, formats: readonly [PageFormat, ...PageFormat[]]): PageFormat =>
  formats.includes(asked) ? asked : formats[0]

/** The usage of a request as the vendor reports it; members that it does not report are absent. */
export interface VendorCharge {
  credits?: number | undefined
  tokens?: number | undefined
  costUsd?: number | undefined
}

/** The usage of several calls together. A sum is absent if one of its parts is. */
export const sumOfCharges = (all: readonly VendorCharge[]): VendorCharge => ({
  credits: sumOf(all.map(({ credits }) => credits)),
  tokens: sumOf(all.map(({ tokens }) => tokens)),
  costUsd: sumOf(all.map(({ costUsd }) => costUsd)),
})

const sumOf = (amounts: ReadonlyArray<number | undefined>): number | undefined =>
  amounts.reduce((sum, amount) => (sum === undefined || amount === undefined ? undefined : sum + amount), 0)

/** The usage of calls that are charged by what they do: in the vendor's credits or tokens where it names them, else in `units`. */
export function usageOf(units: Readonly<Partial<Record<PricedUnit, number>>>, spent: VendorCharge): TokenUsage {
  const { credits, tokens, costUsd } = spent
  const charged: TokenUsage['units'] =
    tokens !== undefined ? undefined : credits === undefined ? units : { credit: credits }
  return {
    inputTokens: tokens ?? 0,
    outputTokens: 0,
    ...(charged && { units: charged }),
    ...(costUsd !== undefined && { costUsd }),
  }
}

/** The list in a member of an answer; `undefined` when it has none. */
export const listIn = (json: unknown, name: string): readonly unknown[] | undefined => {
  const list = isObject(json) ? json[name] : undefined
  return Array.isArray(list) ? list : undefined
}

/** The object in a member of an answer; an empty one when it has none. */
export const objectIn = (json: JsonObject, name: string): JsonObject => {
  const inner = json[name]
  return isObject(inner) ? inner : {}
}

/** Does the status say that a page does not exist, and not that its server refused the vendor or has failed? */
export const isOfPage = (status: number): boolean => status < 400 || status === 404 || status === 410

/** A page that a vendor could not read. It is no fault of the vendor's, and another one may be able to. */
export const unreadablePage = (message: string): EmbeddedError => ({
  status: 422,
  message,
  error: { message, type: 'invalid_request_error' },
})
