import { defaultCatalog } from '../../src/protocols/providers/catalog.ts'
import { getProviderNames } from '../../src/protocols/providers/provider-names.ts'

/** The file with the provider and model names that editors complete. */
export const KNOWN_NAMES = 'src/config/known-names.data.ts'

export function generateKnownNames(): string {
  const providers = Object.keys(defaultCatalog)
  const models = providers.flatMap((provider) => {
    const { output } = getProviderNames(defaultCatalog, { provider })
    return (defaultCatalog[provider]?.models ?? []).map(({ id }) => `${output}/${id}`)
  })
  const union = (names: readonly string[]) =>
    [...new Set(names)].map((name) => `  | ${JSON.stringify(name).replaceAll('"', "'")}`).join('\n')
  return `/* Generated from the catalog by npm run generate. Don't edit it. */
// biome-ignore-all format: one name per line

/** The providers in the catalog. */
export type KnownProvider =
${union(providers)}

/** The models in the catalog. */
export type KnownModel =
${union(models)}
`
}
