import { definitionOf, namesOf, type ProviderNames, stripName } from '../providers/names.ts'
import type { AliasRecord, ConnectionRecord } from '../store/store.ts'
import type { Catalog, CatalogProvider, CustomModel, Kind } from '../types.ts'
import {
  createKindLookup,
  createModelIndex,
  indexCustomModels,
  type Listed,
  type ModelIndex,
  serves,
} from './entries.ts'
import type { LookUp } from './look-up.ts'
import { asksUpstream, enabledIds } from './unasked.ts'

/** The data of the connection path. `connections`: the active ones, in their order, at least one. */
interface ConnectionData {
  catalog: Catalog
  connections: readonly ConnectionRecord[]
  customModels: readonly CustomModel[]
  aliases: readonly AliasRecord[]
}

/** The models of each provider that has a connection, by its first one (src/rules.md, Listing with connections). All upstreams are asked at once. */
export async function listConnections(data: ConnectionData, kinds: readonly Kind[], lookUp: LookUp): Promise<Listed[]> {
  const { catalog } = data
  const providers = firstOfEach(data.connections)
    .map((connection) => ({
      connection,
      definition: definitionOf(catalog, connection.provider),
      names: namesOf(catalog, connection),
    }))
    .filter(({ definition }) => serves(definition, kinds))
  const customs = indexCustomModels(data.customModels)
  const aliased = indexAliasModels(
    data.aliases,
    providers.map(({ names }) => names),
  )
  const base = await Promise.all(providers.map(({ connection, definition }) => baseIds(connection, definition, lookUp)))
  return providers.flatMap(({ definition, names }, at) => [
    ...listIds(mergeIds(base[at] ?? [], names, customs, aliased), { definition, names, kinds }),
    ...listServices(definition, names.output, kinds),
  ])
}

function firstOfEach(connections: readonly ConnectionRecord[]): ConnectionRecord[] {
  const first = new Map<string, ConnectionRecord>()
  for (const connection of connections) {
    if (!first.has(connection.provider)) first.set(connection.provider, connection)
  }
  return [...first.values()]
}

/** The ids to list: base and aliased ids without the provider's name in front, custom ids unchanged. An id that is only such a name is dropped. */
function mergeIds(
  base: readonly string[],
  names: ProviderNames,
  customs: ModelIndex,
  aliased: ModelIndex,
): Set<string> {
  const bare = (id: string) => stripName(id, names)
  const merged = new Set([...base.map(bare), ...customs.under(names), ...aliased.under(names).map(bare)])
  for (const id of merged) if (id.trim() === '') merged.delete(id)
  return merged
}

function* listIds(
  ids: Iterable<string>,
  of: { definition: CatalogProvider | undefined; names: ProviderNames; kinds: readonly Kind[] },
): Generator<Listed> {
  const kindOf = createKindLookup(of.definition?.models ?? [], of.names)
  const owner = of.names.output
  for (const id of ids) {
    if (of.kinds.includes(kindOf(id))) yield { id: `${owner}/${id}`, owner }
  }
}

/** The services of a provider besides its models: voices, embeddings, web search and web fetch. */
function* listServices(
  definition: CatalogProvider | undefined,
  owner: string,
  kinds: readonly Kind[],
): Generator<Listed> {
  const listed = (id: string): Listed => ({ id: `${owner}/${id}`, owner })
  if (kinds.includes('tts')) for (const { id } of definition?.ttsConfig?.models ?? []) yield listed(id)
  if (kinds.includes('embedding')) for (const { id } of definition?.embeddingConfig?.models ?? []) yield listed(id)
  if (kinds.includes('webSearch') && definition?.searchConfig) yield { ...listed('search'), kind: 'webSearch' }
  if (kinds.includes('webFetch') && definition?.fetchConfig) yield { ...listed('fetch'), kind: 'webFetch' }
}

/** Values of the alias map (`<name>/<model_id>`), unchanged, by the provider's name that they start with. */
function indexAliasModels(aliases: readonly AliasRecord[], providers: readonly ProviderNames[]): ModelIndex {
  const index = createModelIndex()
  const names = new Set(providers.flatMap(({ output, catalog, id }) => [output, catalog, id]))
  const lengths = new Set(Array.from(names, (name) => name.length)) // few different lengths, however many names there are
  for (const { model } of aliases) {
    for (const length of lengths) {
      const name = model.slice(0, length)
      if (model[length] === '/' && names.has(name)) index.add(name, model)
    }
  }
  return index
}

/**
 * The ids that the listing of a connection starts from: its enabled models, else the catalog's; for a compatible provider that has neither,
 * what its upstream lists.
 */
async function baseIds(
  connection: ConnectionRecord,
  definition: CatalogProvider | undefined,
  lookUp: LookUp,
): Promise<string[]> {
  const ids = enabledIds(connection) ?? (definition?.models ?? []).map((model) => model.id)
  return ids.length === 0 && asksUpstream(connection.provider) ? lookUp(connection) : ids
}
