import { catalogAliasOf, definitionOf, namesOf, stripName } from '../providers/names.ts'
import type { AliasRecord, ConnectionRecord } from '../store/store.ts'
import type { Catalog, CustomModel } from '../types.ts'
import type { Group } from './group.ts'

/** What is configured, as far as names lead through it. */
export interface MissingProvidersWorld {
  catalog: Catalog
  combos: ReadonlyMap<string, Group>
  aliases: ReadonlyMap<AliasRecord['alias'], AliasRecord['model']>
  /** Inactive ones too. */
  connections: readonly ConnectionRecord[]
  /** Is there an active connection of this name? */
  isConnected(name: string): boolean
}

/**
 * The providers that a model name leads to, through aliases and combos, and to which no active connection does; in the order in which
 * they are written, each once, `max` at most.
 */
export function missingProviders(model: string, world: MissingProvidersWorld, max = 3): string[] {
  const missing = new Set<string>()
  const seen = new Set<string>()
  const rest = [model] // the next one last
  for (let name = rest.pop(); name !== undefined && missing.size < max; name = rest.pop()) {
    if (seen.has(name)) continue
    seen.add(name)
    const combo = world.combos.get(name)
    const meant = world.aliases.get(name)
    if (combo) rest.push(...combo.entries.map((entry) => entry.name).reverse())
    else if (meant !== undefined) rest.push(meant)
    else {
      const provider = missingProvider(name, world)
      if (provider !== undefined) missing.add(provider)
    }
  }
  return [...missing]
}

/** The provider of a name `<provider>/<model>` whose only fault is that no active connection leads there. */
function missingProvider(model: string, { catalog, connections, isConnected }: MissingProvidersWorld) {
  const name = model.slice(0, Math.max(0, model.indexOf('/')))
  if (name === '' || isConnected(name)) return undefined
  const known = [...Object.keys(catalog).map((provider) => ({ provider })), ...connections]
  return known.find((one) => {
    const { output, catalog: filed, id } = namesOf(catalog, one)
    return name === id || name === output || name === filed
  })?.provider
}

/** What is known of the models of the active connections, by each name that they go by. */
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
  // A model in an alias or a combo is known to the operator; for a compatible provider there may be no other source.
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
