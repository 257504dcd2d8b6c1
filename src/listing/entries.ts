import { type ProviderNames, stripName } from '../providers/names.ts'
import type { CatalogModel, CatalogProvider, CustomModel, Kind, ModelEntry } from '../types.ts'

/** One listed model: its id, the alias of its owner (`combo` for combos), and the kind of a web entry. */
export interface Listed {
  id: string
  owner: string
  kind?: 'webSearch' | 'webFetch'
}

/**
 * The entries of one response, with the same `created` (epoch seconds); of entries with the same id the first is kept.
 */
export function toEntries(listed: Iterable<Listed>, created: number): ModelEntry[] {
  const entries = new Map<string, ModelEntry>()
  for (const { id, owner, kind } of listed) {
    if (entries.has(id)) continue
    const entry: ModelEntry = { id, object: 'model', created, owned_by: owner }
    if (kind) entry.kind = kind
    entries.set(id, entry)
  }
  return [...entries.values()]
}

/** Is one of the provider's service kinds (default `llm`) among the wanted kinds? */
export const serves = (definition: CatalogProvider | undefined, kinds: readonly Kind[]): boolean =>
  (definition?.serviceKinds ?? ['llm']).some((kind) => kinds.includes(kind))

/** The kind of a catalog entry; default `llm`. */
export const kindOf = (model: CatalogModel): Kind => model.type ?? 'llm'

/** The words by which kinds are inferred; the first that the id contains counts. */
const hints: ReadonlyArray<readonly [Kind, readonly string[]]> = [
  ['embedding', ['embed']],
  ['tts', ['tts', 'speech', 'audio', 'voice']],
  ['image', ['image', 'imagen', 'dall-e', 'dalle', 'flux', 'sdxl', 'sd-', 'stable-diffusion']],
]

/** The kind of an id that the catalog does not know, by the words that it contains (src/rules.md, Kinds of models). */
function inferKind(id: string): Kind {
  const text = id.toLowerCase()
  return hints.find(([, words]) => words.some((word) => text.includes(word)))?.[0] ?? 'llm'
}

/**
 * Makes a function that returns the kind of a provider's model id: that of the catalog, found with or without one of the provider's names
 * in front, otherwise inferred from the id (src/rules.md, Kinds of models). Of several entries with one id the first counts.
 */
export function createKindLookup(models: readonly CatalogModel[], names: ProviderNames): (id: string) => Kind {
  const bareId = (id: string) => stripName(id, names)
  const exact = kindsById(models, (id) => id)
  let bare: Map<string, Kind> | undefined // made on first use, since most providers never need it

  function withoutName(id: string): Kind | undefined {
    bare ??= kindsById(models, bareId)
    return bare.get(id) ?? bare.get(bareId(id))
  }

  return (id) => exact.get(id) ?? withoutName(id) ?? inferKind(id)
}

function kindsById(models: readonly CatalogModel[], keyOf: (id: string) => string): Map<string, Kind> {
  const kinds = new Map<string, Kind>()
  for (const model of models) {
    const key = keyOf(model.id)
    if (!kinds.has(key)) kinds.set(key, kindOf(model))
  }
  return kinds
}

/** Model ids by provider name, so that a provider finds its own by its three names without a search through all. */
export interface ModelIndex {
  add(name: string, id: string): void
  /** The ids under any of the three names, in the order in which they were added. */
  under(names: ProviderNames): string[]
}

export function createModelIndex(): ModelIndex {
  const byName = new Map<string, Array<{ order: number; id: string }>>()
  let added = 0
  return {
    add(name, id) {
      const filed = { order: added++, id }
      const list = byName.get(name)
      if (list) list.push(filed)
      else byName.set(name, [filed])
    },
    under: ({ output, catalog, id }) =>
      [...new Set([output, catalog, id])]
        .flatMap((name) => byName.get(name) ?? [])
        .sort((a, b) => a.order - b.order)
        .map((filed) => filed.id),
  }
}

/** All listable custom models as `<providerAlias>/<id>` (src/rules.md, Listing without connections). */
export function* listCustomModels(models: readonly CustomModel[]): Generator<Listed> {
  for (const { providerAlias, id } of listable(models)) yield { id: `${providerAlias}/${id}`, owner: providerAlias }
}

/** Custom models by the provider name they were filed under (src/rules.md, Listing with connections). */
export function indexCustomModels(models: readonly CustomModel[]): ModelIndex {
  const index = createModelIndex()
  for (const { providerAlias, id } of listable(models)) index.add(providerAlias, id)
  return index
}

/** The models with a provider alias, a non-blank id, and no type but `llm`; ids trimmed. */
function* listable(models: readonly CustomModel[]): Generator<CustomModel> {
  for (const { providerAlias, id, type } of models) {
    if (providerAlias && id?.trim() && (type ?? 'llm') === 'llm') yield { providerAlias, id: id.trim() }
  }
}
