import { type ProviderNames, stripProviderName } from '../../protocols/providers/provider-names.ts'
import type { CatalogModel, CatalogProvider, CustomModel, Kind, ModelEntry } from '../../types.ts'

/** A listed model: its ID, its owner's alias (`combo` for combos), and, for web entries, its kind. */
export interface ListedModel {
  id: string
  owner: string
  kind?: 'webSearch' | 'webFetch'
}

/** Converts models to response entries with the same `created` (epoch seconds). If several models have the same ID, keeps the first. */
export function toEntries(listed: Iterable<ListedModel>, createdSeconds: number): ModelEntry[] {
  const entries = new Map<string, ModelEntry>()
  for (const { id, owner, kind } of listed) {
    if (entries.has(id)) continue
    const entry: ModelEntry = { id, object: 'model', created: createdSeconds, owned_by: owner }
    if (kind) entry.kind = kind
    entries.set(id, entry)
  }
  return [...entries.values()]
}

/** Returns whether any of the provider's service kinds (default `llm`) is among the requested kinds. */
export const servesKinds = (definition: CatalogProvider | undefined, kinds: readonly Kind[]): boolean =>
  (definition?.serviceKinds ?? ['llm']).some((kind) => kinds.includes(kind))

/** Returns a catalog model's kind. Default: `llm`. */
export const getKind = (model: CatalogModel): Kind => model.type ?? 'llm'

const KIND_HINTS: ReadonlyArray<readonly [Kind, readonly string[]]> = [
  ['embedding', ['embed']],
  ['tts', ['tts', 'speech', 'audio', 'voice']],
  ['image', ['image', 'imagen', 'dall-e', 'dalle', 'flux', 'sdxl', 'sd-', 'stable-diffusion']],
]

/** Infers a model's kind from words in its ID, for IDs that aren't in the catalog (src/rules.md, Kinds of models). */
function inferKind(id: string): Kind {
  const text = id.toLowerCase()
  return KIND_HINTS.find(([, words]) => words.some((word) => text.includes(word)))?.[0] ?? 'llm'
}

/**
 * Creates a function that returns the kind of a provider's model ID. It looks up the ID in the catalog, with or without the provider prefix. If it
 * isn't there, infers the kind from the ID (src/rules.md, Kinds of models). If the catalog lists an ID twice, the first entry wins.
 */
export function createKindLookup(models: readonly CatalogModel[], names: ProviderNames): (id: string) => Kind {
  const stripProvider = (id: string) => stripProviderName(id, names)
  const kindsById = indexKinds(models, (id) => id)
  let kindsByBareId: Map<string, Kind> | undefined // created on first use; most providers never need it
  return (id) => {
    const kind = kindsById.get(id)
    if (kind) return kind
    kindsByBareId ??= indexKinds(models, stripProvider)
    return kindsByBareId.get(id) ?? kindsByBareId.get(stripProvider(id)) ?? inferKind(id)
  }
}

function indexKinds(models: readonly CatalogModel[], getKey: (id: string) => string): Map<string, Kind> {
  const kinds = new Map<string, Kind>()
  for (const model of models) {
    const key = getKey(model.id)
    if (!kinds.has(key)) kinds.set(key, getKind(model))
  }
  return kinds
}

/** Indexes model IDs by provider name, because a provider has up to three names. */
export interface ModelIndex {
  add(name: string, id: string): void
  /** Returns the IDs under any of these names, in insertion order. */
  getIds(names: ProviderNames): string[]
}

export function createModelIndex(): ModelIndex {
  const itemsByName = new Map<string, Array<{ order: number; id: string }>>()
  let addedCount = 0
  return {
    add(name, id) {
      const item = { order: addedCount++, id }
      const items = itemsByName.get(name)
      if (items) items.push(item)
      else itemsByName.set(name, [item])
    },
    getIds: ({ output, catalog, id }) =>
      [...new Set([output, catalog, id])]
        .flatMap((name) => itemsByName.get(name) ?? [])
        .sort((a, b) => a.order - b.order)
        .map((item) => item.id),
  }
}

/** Lists custom models as `<providerAlias>/<id>` (src/rules.md, Listing without connections). */
export function* listCustomModels(models: readonly CustomModel[]): Generator<ListedModel> {
  for (const { providerAlias, id } of filterListable(models))
    yield { id: `${providerAlias}/${id}`, owner: providerAlias }
}

/** Indexes custom models by provider alias (src/rules.md, Listing with connections). */
export function indexCustomModels(models: readonly CustomModel[]): ModelIndex {
  const index = createModelIndex()
  for (const { providerAlias, id } of filterListable(models)) index.add(providerAlias, id)
  return index
}

/** Yields the models that have a provider alias, a nonblank ID, and no type other than `llm`. Trims their IDs. */
function* filterListable(models: readonly CustomModel[]): Generator<CustomModel> {
  for (const { providerAlias, id, type } of models) {
    if (providerAlias && id?.trim() && (type ?? 'llm') === 'llm') yield { providerAlias, id: id.trim() }
  }
}
