import { calculateCost } from '../../pricing/cost.ts'
import type { TokenUsage } from '../../protocols/formats/format.ts'
import { getPrice, type ModelReference } from '../../protocols/providers/catalog-model.ts'
import type { Catalog } from '../../types.ts'

/** Calculates how many US dollars caching saved compared with the same usage without caching. Returns `undefined` if a required price is unknown. */
export function calculateSavings(usage: TokenUsage, target: ModelReference, catalog: Catalog): number | undefined {
  const price = getPrice(catalog, target)
  const {
    cacheReadTokens: readTokens = 0,
    cacheWriteTokens: writtenTokens = 0,
    cacheWriteLongTokens = 0,
    ...uncachedUsage
  } = usage
  if (price?.input === undefined) return undefined
  if (
    (readTokens > 0 && price.cacheRead === undefined) ||
    (writtenTokens > cacheWriteLongTokens && price.cacheWrite === undefined)
  )
    return undefined
  const uncachedCost = calculateCost(price, uncachedUsage)
  const cost = calculateCost(price, usage)
  return uncachedCost === undefined || cost === undefined ? undefined : uncachedCost - cost
}
