import type { Catalog, CatalogModel } from '../types.ts'
import { definitionOf } from './names.ts'

/** Which model of which provider. */
export interface ModelAt {
  provider: string
  /** The provider's own name of the model. */
  model: string
}

/** What the catalog says of a model; of several entries with one id the first counts. */
export function catalogModelOf(catalog: Catalog, { provider, model }: ModelAt): CatalogModel | undefined {
  const models = definitionOf(catalog, provider)?.models
  return models && indexOf(models).get(model)
}

/** In tokens; `undefined` when the catalog does not know it. */
export const contextWindowOf = (catalog: Catalog, at: ModelAt): number | undefined =>
  catalogModelOf(catalog, at)?.contextWindow

const indexes = new WeakMap<readonly CatalogModel[], ReadonlyMap<string, CatalogModel>>()

/** Made once a provider: some have hundreds of models, and are asked about with each request. */
function indexOf(models: readonly CatalogModel[]): ReadonlyMap<string, CatalogModel> {
  let index = indexes.get(models)
  if (!index) {
    index = new Map([...models].reverse().map((model) => [model.id, model]))
    indexes.set(models, index)
  }
  return index
}
