import {
  getDefinition,
  getProviderNames,
  type ProviderNames,
  stripProviderName,
} from '../../protocols/providers/provider-names.ts'
import type { AliasRecord, ConnectionRecord } from '../../records/store.ts'
import type { Catalog, CatalogProvider, CustomModel, Kind } from '../../types.ts'
import {
  createKindLookup,
  createModelIndex,
  indexCustomModels,
  type ListedModel,
  type ModelIndex,
  servesKinds,
} from './entries.ts'
import { getEnabledIds, queriesUpstream } from './fallback-list.ts'
import type { Lookup } from './model-lookup.ts'

/** The input for `listConnections`. `connections` contains the active connections in order; at least one. */
interface ConnectionData {
  catalog: Catalog
  connections: readonly ConnectionRecord[]
  customModels: readonly CustomModel[]
  aliases: readonly AliasRecord[]
}

/** Lists each provider's models based on its first connection (src/rules.md, Listing with connections). Queries all upstreams concurrently. */
export async function listConnections(
  data: ConnectionData,
  kinds: readonly Kind[],
  lookup: Lookup,
): Promise<ListedModel[]> {
  const { catalog } = data
  const firstByProvider = new Map<string, ConnectionRecord>()
  for (const connection of data.connections)
    if (!firstByProvider.has(connection.provider)) firstByProvider.set(connection.provider, connection)
  const providers = [...firstByProvider.values()]
    .map((connection) => ({
      connection,
      definition: getDefinition(catalog, connection.provider),
      names: getProviderNames(catalog, connection),
    }))
    .filter(({ definition }) => servesKinds(definition, kinds))
  const customModelIndex = indexCustomModels(data.customModels)
  const aliasIndex = indexAliasModels(
    data.aliases,
    providers.map(({ names }) => names),
  )
  const baseIds = await Promise.all(
    providers.map(({ connection, definition }) => getBaseIds(connection, definition, lookup)),
  )
  return providers.flatMap(({ definition, names }, index) => [
    ...listIds(mergeIds(baseIds[index] ?? [], names, customModelIndex, aliasIndex), { definition, names, kinds }),
    ...listServices(definition, names.output, kinds),
  ])
}

/** Merges the IDs to list: base and aliased IDs without the provider prefix, and unchanged custom IDs. Drops IDs that consist only of a prefix. */
function mergeIds(
  baseIds: readonly string[],
  names: ProviderNames,
  customModelIndex: ModelIndex,
  aliasIndex: ModelIndex,
): Set<string> {
  const stripNames = (id: string) => stripProviderName(id, names)
  const mergedIds = new Set([
    ...baseIds.map(stripNames),
    ...customModelIndex.getIds(names),
    ...aliasIndex.getIds(names).map(stripNames),
  ])
  for (const id of mergedIds) if (id.trim() === '') mergedIds.delete(id)
  return mergedIds
}

function* listIds(
  ids: Iterable<string>,
  {
    definition,
    names,
    kinds,
  }: { definition: CatalogProvider | undefined; names: ProviderNames; kinds: readonly Kind[] },
): Generator<ListedModel> {
  const getKind = createKindLookup(definition?.models ?? [], names)
  const owner = names.output
  for (const id of ids) {
    if (kinds.includes(getKind(id))) yield { id: `${owner}/${id}`, owner }
  }
}

function* listServices(
  definition: CatalogProvider | undefined,
  owner: string,
  kinds: readonly Kind[],
): Generator<ListedModel> {
  const toModel = (id: string): ListedModel => ({ id: `${owner}/${id}`, owner })
  if (kinds.includes('tts')) for (const { id } of definition?.ttsConfig?.models ?? []) yield toModel(id)
  if (kinds.includes('embedding')) for (const { id } of definition?.embeddingConfig?.models ?? []) yield toModel(id)
  if (kinds.includes('webSearch') && definition?.searchConfig) yield { ...toModel('search'), kind: 'webSearch' }
  if (kinds.includes('webFetch') && definition?.fetchConfig) yield { ...toModel('fetch'), kind: 'webFetch' }
}

/** Indexes alias targets (`<provider>/<model>`) by the provider name at their start. */
function indexAliasModels(aliases: readonly AliasRecord[], providers: readonly ProviderNames[]): ModelIndex {
  const index = createModelIndex()
  const names = new Set(providers.flatMap(({ output, catalog, id }) => [output, catalog, id]))
  const lengths = new Set(Array.from(names, (name) => name.length)) // there are far fewer lengths than names
  for (const { model } of aliases) {
    for (const length of lengths) {
      const name = model.slice(0, length)
      if (model[length] === '/' && names.has(name)) index.add(name, model)
    }
  }
  return index
}

/**
 * Returns the connection's enabled models. If there are none, returns the catalog's models or, for a compatible provider, those that its upstream
 * lists.
 */
async function getBaseIds(
  connection: ConnectionRecord,
  definition: CatalogProvider | undefined,
  lookup: Lookup,
): Promise<string[]> {
  const ids = getEnabledIds(connection) ?? (definition?.models ?? []).map((model) => model.id)
  return ids.length === 0 && queriesUpstream(connection.provider) ? lookup(connection) : ids
}
