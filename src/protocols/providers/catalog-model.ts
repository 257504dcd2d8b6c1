import type { Catalog, CatalogModel, Kind, Price, PriceOrigin, ServiceConfig } from '../../types.ts'
import { getDefinition } from './provider-names.ts'

/** A model of a provider. */
export interface ModelReference {
  provider: string
  /** The provider's name for the model. */
  model: string
  /** The operator's prices, which replace the catalog's prices. */
  ownPrice?: Price | undefined
  /** The connection, which may define prices for other models. */
  connection?:
    | { readonly prices?: Readonly<Record<string, Price>> | undefined; readonly updatedAt?: string }
    | undefined
}

/** Returns a model's catalog entry. If several have the same ID, returns the first. */
export function getCatalogModel(catalog: Catalog, { provider, model }: ModelReference): CatalogModel | undefined {
  const models = getDefinition(catalog, provider)?.models
  return (models && getIndex(models).get(model)) ?? getServiceModel(catalog, { provider, model })
}

/** Returns the provider's service with this model name (`search` or `fetch`). */
export function getService(catalog: Catalog, { provider, model }: ModelReference): ServiceConfig | undefined {
  const { searchConfig, fetchConfig } = getDefinition(catalog, provider) ?? {}
  return model === 'search' ? searchConfig : model === 'fetch' ? fetchConfig : undefined
}

function getServiceModel(catalog: Catalog, reference: ModelReference): CatalogModel | undefined {
  const service = getService(catalog, reference)
  const type: Kind = reference.model === 'search' ? 'webSearch' : 'webFetch'
  return service && { id: reference.model, type, ...(service.price && { price: service.price }) }
}

/** Returns the context window in tokens, or `undefined` if it isn't in the catalog. */
export const getContextWindow = (catalog: Catalog, reference: ModelReference): number | undefined =>
  getCatalogModel(catalog, reference)?.contextWindow

/** Returns the operator's prices for a model, or else the catalog's. Returns `undefined` if there are none. */
export const getPrice = (catalog: Catalog, reference: ModelReference): Price | undefined =>
  reference.ownPrice ?? getCatalogModel(catalog, reference)?.price

/** Returns where a model's price comes from, or `undefined` if it has none. */
export function getPriceOrigin(catalog: Catalog, reference: ModelReference): PriceOrigin | undefined {
  const { provider, model, ownPrice, connection } = reference
  const cacheKey = `${provider}/${model}`
  if (ownPrice) {
    const hasConnectionPrice = Object.hasOwn(connection?.prices ?? {}, model)
    const { updatedAt = '' } = (hasConnectionPrice && connection) || {}
    return {
      by: hasConnectionPrice ? 'connection' : 'custom',
      of: cacheKey,
      ...(updatedAt && { asOf: updatedAt.slice(0, 10) }),
    }
  }
  const { isLive, asOf: priceDate } = getDefinition(catalog, provider) ?? {}
  const { price, asOf = priceDate } = getCatalogModel(catalog, reference) ?? {}
  return price && { by: isLive ? 'live' : 'built-in', of: cacheKey, ...(asOf && { asOf }) }
}

/** Finds another model that contributed to a response, by the name that the provider reports. Returns `undefined` if its price is unknown. */
export function findAssistingModel(
  catalog: Catalog,
  target: ModelReference,
  model: string,
): ModelReference | undefined {
  const { provider, connection } = target
  const simpleName = simplifyName(model)
  if (simpleName === simplifyName(target.model)) return target
  const { prices = {} } = connection ?? {}
  const pricedModel = Object.hasOwn(prices, model)
    ? model
    : Object.keys(prices).find((name) => simplifyName(name) === simpleName)
  if (pricedModel !== undefined) return { provider, model: pricedModel, ownPrice: prices[pricedModel] }
  if (getCatalogModel(catalog, { provider, model })?.price) return { provider, model }
  const listedModel = getDefinition(catalog, provider)?.models?.find(
    ({ id, price }) => price && simplifyName(id) === simpleName,
  )
  return listedModel && { provider, model: listedModel.id }
}

/** Removes the date from a model name, and, for Claude, the prefixes and suffixes of cloud platforms. */
function simplifyName(model: string): string {
  const name = model.toLowerCase()
  return name
    .slice(Math.max(0, name.lastIndexOf('claude')))
    .replace(/[@:][\s\S]*$/, '')
    .replace(/-v\d+$/, '')
    .replace(/-\d{8}$/, '')
    .replaceAll('.', '-')
}

const indexes = new WeakMap<readonly CatalogModel[], ReadonlyMap<string, CatalogModel>>()

/** Indexes models by ID. The index is cached, because some providers have hundreds of models, and each request looks one up. */
function getIndex(models: readonly CatalogModel[]): ReadonlyMap<string, CatalogModel> {
  let index = indexes.get(models)
  if (!index) {
    index = new Map([...models].reverse().map((model) => [model.id, model]))
    indexes.set(models, index)
  }
  return index
}
