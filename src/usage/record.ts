import type { TokenUsage } from '../formats/format.ts'
import { catalogModelOf, type ModelAt } from '../providers/catalog-model.ts'
import type { Catalog, PricedUnit, WireFormat } from '../types.ts'

/**
 * The tokens and cost of one answered model request, as the hook `onUsage` gets it. Token counts are absent when the provider sent none.
 */
export interface UsageRecord extends Partial<TokenUsage> {
  /** The id of the client's key; absent when the request carried none. */
  keyId?: string
  /** The model name that the client sent. */
  requestedModel: string
  provider: string
  connectionId: string
  model: string
  format: WireFormat
  streamed: boolean
  /** When the request arrived; epoch ms. */
  startedAt: number
  durationMs: number
  /** In US dollars by the catalog's prices; absent when the price or the token counts are not known. */
  costUsd?: number
}

/**
 * The cost in US dollars by the catalog's prices; `undefined`, never 0, when the price of something that was used is not known. Without
 * prices of their own, cached tokens cost as much as other input.
 */
export function costOf(catalog: Catalog, target: ModelAt, usage: TokenUsage): number | undefined {
  const price = catalogModelOf(catalog, target)?.price
  if (!price) return undefined
  const { cacheReadTokens = 0, cacheWriteTokens = 0, units = {} } = usage
  const { input, output, cacheRead = input, cacheWrite = input } = price
  const ofTokens = sumOfCosts([
    [Math.max(0, usage.inputTokens - cacheReadTokens - cacheWriteTokens), input],
    [cacheReadTokens, cacheRead],
    [cacheWriteTokens, cacheWrite],
    [usage.outputTokens, output],
  ])
  const counts = Object.entries(units) as Array<[PricedUnit, number]> // an object has no other keys
  const ofUnits = sumOfCosts(counts.map(([unit, count]) => [count, price[unit]]))
  return ofTokens === undefined || ofUnits === undefined ? undefined : ofTokens / 1_000_000 + ofUnits
}

function sumOfCosts(counts: ReadonlyArray<readonly [count: number, price: number | undefined]>): number | undefined {
  let sum = 0
  for (const [count, price] of counts) {
    if (count === 0) continue
    if (price === undefined) return undefined
    sum += count * price
  }
  return sum
}
