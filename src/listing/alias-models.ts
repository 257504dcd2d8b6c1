import type { ProviderNames } from '../providers/names.ts'
import type { AliasRecord } from '../store/store.ts'
import { createFiling, type Filing } from './filing.ts'

/** The alias map's values `<name>/<model_id>`, whole, by those of the providers' names that they start with (spec.md, Listing rules 4). */
export function fileAliasModels(aliases: readonly AliasRecord[], providers: readonly ProviderNames[]): Filing {
  const filing = createFiling()
  const names = new Set(providers.flatMap(({ output, catalog, id }) => [output, catalog, id]))
  const lengths = new Set(Array.from(names, (name) => name.length)) // few, however many names there are
  for (const { model } of aliases) {
    for (const length of lengths) {
      const name = model.slice(0, length)
      if (model[length] === '/' && names.has(name)) filing.add(name, model)
    }
  }
  return filing
}
