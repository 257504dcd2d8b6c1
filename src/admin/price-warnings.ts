import { isObject } from '../lib/json.ts'
import { didYouMean, findNearest } from '../lib/spelling.ts'
import { formatPlainUsd } from '../lib/usd.ts'
import { getDefinition, getProviderNames, stripProviderName } from '../protocols/providers/provider-names.ts'
import type { ConnectionRecord } from '../records/store.ts'
import { tokenPriceNames } from '../types/records/price-fields.ts'
import type { Catalog, CustomModel, Price } from '../types.ts'

/** Warns about a connection's prices that no request will use, or that are probably in another unit. */
export function listConnectionPriceWarnings(
  { prices = {}, ...connection }: ConnectionRecord,
  { catalog, customModels }: { catalog: Catalog; customModels: readonly CustomModel[] },
): string[] {
  const names = getProviderNames(catalog, connection)
  const providerNames: string[] = Object.values(names)
  const { models = [], searchConfig, fetchConfig } = getDefinition(catalog, connection.provider) ?? {}
  const enabledModels = connection.providerSpecificData?.enabledModels ?? []
  const knownNames = new Set([
    ...models.map(({ id }) => id),
    ...(searchConfig ? ['search'] : []),
    ...(fetchConfig ? ['fetch'] : []),
    ...enabledModels.flatMap((id) => [id, stripProviderName(id, names)]),
    ...customModels.filter(({ providerAlias }) => providerNames.includes(providerAlias)).map(({ id }) => id.trim()),
  ])
  const unusedPriceWarnings = Object.keys(prices).flatMap((id) => {
    if (knownNames.has(id)) return []
    const strippedId = stripProviderName(id, names)
    if (strippedId !== id)
      return [`"prices" contains "${id}", but prices are listed by the provider's model ID. Use "${strippedId}".`]
    if (knownNames.size === 0) return []
    const hint = didYouMean(findNearest(id, knownNames, 1)) ?? 'If the model exists, add it as a custom model.'
    return [`"prices" contains "${id}", which is not a known model of this connection. ${hint}`]
  })
  const unitWarnings = Object.entries(prices).flatMap(([id, price]) =>
    listTokenPriceWarnings(price, `"prices" of "${id}"`),
  )
  return [...truncateWarnings(unusedPriceWarnings), ...truncateWarnings(unitWarnings)]
}

/** A price per million tokens below this is probably per token. */
const MIN_USD_PER_MILLION = 0.001

/** Warns about prices that are probably per token instead of per million tokens. `fieldPath` states where they are set. */
export function listTokenPriceWarnings(price: Price | undefined, fieldPath: string): string[] {
  const [found] = listTokenPrices(price).filter(([, usd]) => usd > 0 && usd < MIN_USD_PER_MILLION)
  if (!found) return []
  const [name, usd] = found
  const perMillion = Number((usd * 1e6).toPrecision(12))
  return [
    `${fieldPath}: ${formatPlainUsd(usd)} as "${name}" looks like the price of one token. Prices are in USD per million tokens. Did you mean ${formatPlainUsd(perMillion)}?`,
  ]
}

/** Lists token prices, including nested prices. */
function listTokenPrices(value: unknown): [name: string, usd: number][] {
  if (Array.isArray(value)) return value.flatMap(listTokenPrices)
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([name, inner]): [string, number][] => {
    if (typeof inner !== 'number') return name === 'images' ? [] : listTokenPrices(inner)
    return tokenPriceNames.has(name) ? [[name, inner]] : []
  })
}

const MAX_WARNINGS = 10

const truncateWarnings = (warnings: readonly string[]): string[] => [
  ...warnings.slice(0, MAX_WARNINGS),
  ...(warnings.length > MAX_WARNINGS
    ? [`${warnings.length - MAX_WARNINGS} more entries of "prices" have the same problem.`]
    : []),
]
