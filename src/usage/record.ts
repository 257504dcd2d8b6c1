import type { TokenUsage } from '../formats/format.ts'
import { catalogModelOf, type ModelAt } from '../providers/catalog-model.ts'
import type { Catalog, WireFormat } from '../types.ts'

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
 * The cost in US dollars by the catalog's prices; `undefined`, never 0, when a price that it needs is not known. Without prices of their
 * own, cached tokens cost as much as other input.
 */
export function costOf(catalog: Catalog, target: ModelAt, usage: TokenUsage): number | undefined {
  const price = catalogModelOf(catalog, target)?.price
  if (price?.input === undefined || price.output === undefined) return undefined
  const { cacheReadTokens = 0, cacheWriteTokens = 0 } = usage
  const freshTokens = Math.max(0, usage.inputTokens - cacheReadTokens - cacheWriteTokens)
  const perMillion =
    freshTokens * price.input +
    cacheReadTokens * (price.cacheRead ?? price.input) +
    cacheWriteTokens * (price.cacheWrite ?? price.input) +
    usage.outputTokens * price.output
  return perMillion / 1_000_000
}
