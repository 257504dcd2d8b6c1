import type { TokenUsage } from '../formats/format.ts'
import { definitionOf } from '../providers/names.ts'
import type { Target } from '../providers/target.ts'
import type { Catalog, CatalogModel, WireFormat } from '../types.ts'

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
export function costOf(
  catalog: Catalog,
  target: Pick<Target, 'provider' | 'model'>,
  usage: TokenUsage,
): number | undefined {
  const price = priceOf(catalog, target)
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

const prices = new WeakMap<object, Map<string, NonNullable<CatalogModel['price']>>>()

/** Looked up once a catalog and model: catalogs hold thousands of models. */
function priceOf(catalog: Catalog, { provider, model }: Pick<Target, 'provider' | 'model'>) {
  const definition = definitionOf(catalog, provider)
  if (!definition?.models) return undefined
  let byModel = prices.get(definition)
  if (!byModel) {
    byModel = new Map(definition.models.flatMap(({ id, price }) => (price ? [[id, price] as const] : [])))
    prices.set(definition, byModel)
  }
  return byModel.get(model)
}
