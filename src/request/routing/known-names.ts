import {
  getCatalogAlias,
  getDefinition,
  getProviderNames,
  stripProviderName,
} from '../../protocols/providers/provider-names.ts'
import type { ConnectionRecord } from '../../records/store.ts'
import type { Catalog, CustomModel } from '../../types.ts'
import type { RouteTable } from './route-table.ts'

/**
 * Finds up to three providers that a model name resolves to, through aliases and combos, but that have no active connection. Lists each once, in the
 * order in which they are named.
 */
export function findMissingProviders(model: string, table: RouteTable): string[] {
  const missingProviders = new Set<string>()
  const visitedNames = new Set<string>()
  const pendingNames = [model] // a stack; the last element is the next name
  for (let name = pendingNames.pop(); name !== undefined && missingProviders.size < 3; name = pendingNames.pop()) {
    if (visitedNames.has(name)) continue
    visitedNames.add(name)
    const combo = table.combos.get(name)
    const aliasTarget = table.aliases.get(name)
    if (combo) pendingNames.push(...combo.entries.map((entry) => entry.name).reverse())
    else if (aliasTarget !== undefined) pendingNames.push(aliasTarget)
    else {
      const provider = findMissingProvider(name, table)
      if (provider !== undefined) missingProviders.add(provider)
    }
  }
  return [...missingProviders]
}

/** Finds the provider in a `<provider>/<model>` name if it is known but has no active connection. */
function findMissingProvider(model: string, { catalog, connections, namedConnections }: RouteTable) {
  const name = model.slice(0, Math.max(0, model.indexOf('/')))
  if (name === '' || namedConnections.has(name)) return undefined
  const providers = [...Object.keys(catalog).map((provider) => ({ provider })), ...connections]
  return providers.find((connection) => {
    const { output, catalog: catalogAlias, id } = getProviderNames(catalog, connection)
    return name === id || name === output || name === catalogAlias
  })?.provider
}

/**
 * Lists all names that resolve to a target, without querying providers. Without any connection, lists the names that would resolve with one, as the
 * model list does. A name may occur more than once.
 */
export async function listKnownNames(table: RouteTable): Promise<string[]> {
  return [...walkNames(table, await table.loadCustomModels())]
}

function* walkNames(
  { catalog, namedConnections, combos, aliases, resolveModel }: RouteTable,
  customModels: readonly CustomModel[],
) {
  yield* combos.keys()
  yield* aliases.keys()
  if (namedConnections.size === 0) yield* walkCatalogNames(catalog)
  for (const [name, [firstConnection]] of namedConnections) {
    if (firstConnection && getProviderNames(catalog, firstConnection).output === name)
      yield* walkModelNames(firstConnection, catalog)
  }
  for (const { providerAlias, id, type = 'llm' } of customModels) {
    const [firstConnection] = namedConnections.get(providerAlias) ?? []
    if (firstConnection && type === 'llm' && id.trim() !== '')
      yield `${getProviderNames(catalog, firstConnection).output}/${id.trim()}`
  }
  // The operator knows the models in aliases and combos, which may be the only source for a compatible provider.
  const referencedNames = [
    ...aliases.values(),
    ...[...combos.values()].flatMap(({ entries }) => entries.map(({ name }) => name)),
  ]
  for (const model of referencedNames) if (resolveModel(model)) yield model
}

function* walkCatalogNames(catalog: Catalog) {
  for (const [provider, definition] of Object.entries(catalog)) {
    for (const { id, type = 'llm' } of definition.models ?? []) {
      if (type === 'llm') yield `${getCatalogAlias(provider, definition)}/${id}`
    }
  }
}

function* walkModelNames(connection: ConnectionRecord, catalog: Catalog) {
  const names = getProviderNames(catalog, connection)
  const enabledModels = connection.providerSpecificData?.enabledModels
  const ids = enabledModels?.length
    ? enabledModels.map((id) => stripProviderName(id, names))
    : (getDefinition(catalog, connection.provider)?.models ?? []).map((model) => model.id)
  for (const id of ids) if (id.trim() !== '') yield `${names.output}/${id}`
}
