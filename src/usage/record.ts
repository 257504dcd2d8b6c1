import type { TokenUsage } from '../formats/format.ts'
import { catalogModelOf, type ModelAt } from '../providers/catalog-model.ts'
import type { Catalog, WireFormat } from '../types.ts'

/** What one answered model request has used. */
export interface UsageRecord extends Partial<TokenUsage> {
  /** Absent when the request carried no key of the gateway. */
  keyId?: string
  /** As the client asked for it. */
  requestedModel: string
  provider: string
  connectionId: string
  model: string
  format: WireFormat
  streamed: boolean
  /** Epoch ms of the request. */
  startedAt: number
  durationMs: number
  /** US dollars by the catalog's prices; absent when a price or the token counts are not known. */
  costUsd?: number
}

/** What the tokens cost by the catalog's prices, in US dollars; `undefined` when a needed price is not known, never zero for that. */
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
