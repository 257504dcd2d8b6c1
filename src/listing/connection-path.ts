import { definitionOf, namesOf, type ProviderNames, stripName } from '../providers/names.ts'
import type { AliasRecord, ConnectionRecord } from '../store/store.ts'
import type { Catalog, CatalogProvider, CustomModel, Kind } from '../types.ts'
import { fileAliasModels } from './alias-models.ts'
import { baseIds, type LookUp } from './base-ids.ts'
import { createKindLookup } from './catalog-kinds.ts'
import { fileCustomModels } from './custom-models.ts'
import type { Filing } from './filing.ts'
import { serves } from './kinds.ts'
import type { Listed } from './listed.ts'

/** The data of the connection path. `connections`: the active ones, in their order, at least one. */
export interface ConnectionWorld {
  catalog: Catalog
  connections: readonly ConnectionRecord[]
  customModels: readonly CustomModel[]
  aliases: readonly AliasRecord[]
}

/** The models of each provider that has a connection, by its first one (spec.md, Listing rules 4). Upstreams are asked all at once. */
export async function listConnections(
  world: ConnectionWorld,
  kinds: readonly Kind[],
  lookUp: LookUp,
): Promise<Listed[]> {
  const { catalog } = world
  const providers = firstOfEach(world.connections)
    .map((connection) => ({
      connection,
      definition: definitionOf(catalog, connection.provider),
      names: namesOf(catalog, connection),
    }))
    .filter(({ definition }) => serves(definition, kinds))
  const customs = fileCustomModels(world.customModels)
  const aliased = fileAliasModels(
    world.aliases,
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

/** Base and aliased ids without the provider's name in front, custom ids unchanged; an id that is only a name is dropped. */
function mergeIds(base: readonly string[], names: ProviderNames, customs: Filing, aliased: Filing): Set<string> {
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
