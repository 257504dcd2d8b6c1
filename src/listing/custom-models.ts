import type { CustomModel } from '../types.ts'
import { createFiling, type Filing } from './filing.ts'
import type { Listed } from './listed.ts'

/** All listable custom models as `<providerAlias>/<id>` (spec.md, Listing rules 3). */
export function* listCustomModels(models: readonly CustomModel[]): Generator<Listed> {
  for (const { providerAlias, id } of listable(models)) yield { id: `${providerAlias}/${id}`, owner: providerAlias }
}

/** Custom models by the provider name they were filed under (spec.md, Listing rules 4). */
export function fileCustomModels(models: readonly CustomModel[]): Filing {
  const filing = createFiling()
  for (const { providerAlias, id } of listable(models)) filing.add(providerAlias, id)
  return filing
}

/** The models with a provider alias, a non-blank id, and no type but `llm`; ids trimmed. */
function* listable(models: readonly CustomModel[]): Generator<CustomModel> {
  for (const { providerAlias, id, type } of models) {
    if (providerAlias && id?.trim() && (type ?? 'llm') === 'llm') yield { providerAlias, id: id.trim() }
  }
}
