import { catalogAliasOf } from '../providers/names.ts'
import type { Catalog, CustomModel, Kind } from '../types.ts'
import { listCustomModels } from './custom-models.ts'
import { kindOf, serves } from './kinds.ts'
import type { Listed } from './listed.ts'

/** The models without any connection: the catalog's, then the custom ones (spec.md, Listing rules 3). */
export function* listStatic(
  catalog: Catalog,
  customModels: readonly CustomModel[],
  kinds: readonly Kind[],
): Generator<Listed> {
  for (const [provider, definition] of Object.entries(catalog)) {
    if (!serves(definition, kinds)) continue
    const owner = catalogAliasOf(provider, definition)
    for (const model of definition.models ?? []) {
      if (kinds.includes(kindOf(model))) yield { id: `${owner}/${model.id}`, owner }
    }
  }
  if (kinds.includes('llm')) yield* listCustomModels(customModels)
}
