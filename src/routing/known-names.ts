import { catalogAliasOf, definitionOf, namesOf, stripName } from '../providers/names.ts'
import type { AliasRecord, ConnectionRecord } from '../store/store.ts'
import type { Catalog, CustomModel } from '../types.ts'
import type { Group } from './group.ts'

/** What is known of the models behind the active connections, by each name that they go by. */
export interface KnownWorld {
  catalog: Catalog
  connections: ReadonlyMap<string, readonly ConnectionRecord[]>
  combos: ReadonlyMap<string, Group>
  aliases: readonly AliasRecord[]
  customModels: readonly CustomModel[]
  /** Does a name lead to a connection? */
  leads(model: string): boolean
}

/**
 * All names that lead somewhere, as far as they can be known without asking a provider; while nothing is connected, those that would
 * with a connection, which the listing shows then. A name may come more than once.
 */
export function* knownNames({ catalog, connections, combos, aliases, customModels, leads }: KnownWorld) {
  yield* combos.keys()
  for (const { alias } of aliases) yield alias
  if (connections.size === 0) yield* catalogNames(catalog)
  for (const [name, [first]] of connections) {
    if (first && namesOf(catalog, first).output === name) yield* modelNames(first, catalog)
  }
  for (const { providerAlias, id, type = 'llm' } of customModels) {
    const [first] = connections.get(providerAlias) ?? []
    if (first && type === 'llm' && id.trim() !== '') yield `${namesOf(catalog, first).output}/${id.trim()}`
  }
  // Whoever wrote a model into an alias or a combo knew it, and for a compatible provider nobody else may.
  for (const { model } of aliases) if (leads(model)) yield model
  for (const { entries } of combos.values()) for (const { name } of entries) if (leads(name)) yield name
}

function* catalogNames(catalog: Catalog) {
  for (const [provider, definition] of Object.entries(catalog)) {
    for (const { id, type = 'llm' } of definition.models ?? []) {
      if (type === 'llm') yield `${catalogAliasOf(provider, definition)}/${id}`
    }
  }
}

function* modelNames(connection: ConnectionRecord, catalog: Catalog) {
  const names = namesOf(catalog, connection)
  const enabled = connection.providerSpecificData?.enabledModels
  const ids = enabled?.length
    ? enabled.map((id) => stripName(id, names))
    : (definitionOf(catalog, connection.provider)?.models ?? []).map((model) => model.id)
  for (const id of ids) if (id.trim() !== '') yield `${names.output}/${id}`
}
