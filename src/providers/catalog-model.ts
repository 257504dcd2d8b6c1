import type { Catalog, CatalogModel, Kind, Price, ServiceConfig } from '../types.ts'
import { definitionOf } from './names.ts'

/** A provider and a model of it. */
export interface ModelAt {
  provider: string
  /** The provider's own name of the model. */
  model: string
  /** The prices that its owner has given, in place of those of the catalog. */
  ownPrice?: Price | undefined
}

/** The catalog's entry of a model; the first of several with the same id. */
export function catalogModelOf(catalog: Catalog, { provider, model }: ModelAt): CatalogModel | undefined {
  const models = definitionOf(catalog, provider)?.models
  return (models && indexOf(models).get(model)) ?? serviceModelOf(catalog, { provider, model })
}

/** A service of a provider, by the name under which it is asked for as if it were a model. */
export function serviceOf(catalog: Catalog, { provider, model }: ModelAt): ServiceConfig | undefined {
  const { searchConfig, fetchConfig } = definitionOf(catalog, provider) ?? {}
  return model === 'search' ? searchConfig : model === 'fetch' ? fetchConfig : undefined
}

function serviceModelOf(catalog: Catalog, at: ModelAt): CatalogModel | undefined {
  const service = serviceOf(catalog, at)
  const type: Kind = at.model === 'search' ? 'webSearch' : 'webFetch'
  return service && { id: at.model, type, ...(service.price && { price: service.price }) }
}

/** The context window in tokens; `undefined` when the catalog has none. */
export const contextWindowOf = (catalog: Catalog, at: ModelAt): number | undefined =>
  catalogModelOf(catalog, at)?.contextWindow

/** The prices of a model: those of its owner, else those of the catalog; `undefined` when none are known. */
export const priceOf = (catalog: Catalog, at: ModelAt): Price | undefined =>
  at.ownPrice ?? catalogModelOf(catalog, at)?.price

const indexes = new WeakMap<readonly CatalogModel[], ReadonlyMap<string, CatalogModel>>()

/** The models of a provider by id. Cached for each provider, since some have hundreds of models, and each request looks one up. */
function indexOf(models: readonly CatalogModel[]): ReadonlyMap<string, CatalogModel> {
  let index = indexes.get(models)
  if (!index) {
    index = new Map([...models].reverse().map((model) => [model.id, model]))
    indexes.set(models, index)
  }
  return index
}
