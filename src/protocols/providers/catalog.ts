import type { Catalog, CatalogModel } from '../../types.ts'
import { modelSources, models } from './catalog.data.ts'
import { extraModels } from './catalog.extra.ts'
import { findProviderProblem } from './catalog-problem.ts'
import type { ProviderDefinition } from './definitions.ts'
import { definitions } from './definitions.ts'

/** The manually maintained models, which a refreshed catalog's source may lack. */
export const handWrittenModels: CatalogModels = extraModels

/**
 * The built-in providers and their current models: IDs, base URLs, formats, kinds, context windows, and prices in USD per million tokens. Extend it
 * with `createGateway({ catalog: { ...defaultCatalog, mine } })`. Sources and dates: catalog.data.ts, catalog.extra.ts.
 */
export const defaultCatalog: Catalog = /* @__PURE__ */ mergeCatalog(definitions, models, {
  extra: extraModels,
  sources: modelSources,
})

/** Throws a TypeError that names the first invalid field of a custom catalog. */
export function checkCatalog(catalog: Catalog): void {
  const problem = findCatalogProblem(catalog)
  if (problem) throw new TypeError(problem)
}

function findCatalogProblem(catalog: Catalog): string | undefined {
  try {
    for (const [id, provider] of Object.entries(catalog)) {
      const problem = provider === defaultCatalog[id] ? undefined : findProviderProblem(provider, `catalog.${id}`)
      if (problem) return problem
    }
  } catch {} // if a getter throws, the request that needs its value fails
  return undefined
}

type CatalogModels = Readonly<Record<string, readonly CatalogModel[]>>

/**
 * Adds models to the provider definitions. A model in `data` replaces one with the same ID in `extra`. `sources` describes where the data comes from;
 * each entry ends with a date.
 */
export function mergeCatalog(
  providers: Readonly<Record<string, ProviderDefinition>>,
  generatedModels: CatalogModels,
  { extra, sources = {} }: { extra: CatalogModels; sources?: Readonly<Record<string, string>> },
): Catalog {
  return Object.fromEntries(
    Object.entries(providers).map(([id, definition]) => {
      const generatedList = generatedModels[id] ?? []
      const knownIds = new Set(generatedList.map((model) => model.id))
      const addedModels = (extra[id] ?? []).filter((model) => !knownIds.has(model.id))
      const asOf = sources[id]?.slice(-'YYYY-MM-DD'.length)
      return [id, { ...definition, models: [...generatedList, ...addedModels], ...(asOf && { asOf }) }]
    }),
  )
}
