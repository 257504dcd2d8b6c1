import { catalogAliasOf, definitionOf, namesOf, stripName } from '../providers/names.ts'
import type { ConnectionRecord } from '../store/store.ts'
import type { Catalog, CustomModel } from '../types.ts'
import type { RouteTable } from './route-table.ts'

/**
 * The providers that a model name leads to, through aliases and combos, and that have no active connection: each once, in the order in which
 * they are named, `max` at most.
 */
export function missingProviders(model: string, table: RouteTable, max = 3): string[] {
  const missing = new Set<string>()
  const seen = new Set<string>()
  const rest = [model] // a stack: the next name is the last
  for (let name = rest.pop(); name !== undefined && missing.size < max; name = rest.pop()) {
    if (seen.has(name)) continue
    seen.add(name)
    const combo = table.combos.get(name)
    const meant = table.aliases.get(name)
    if (combo) rest.push(...combo.entries.map((entry) => entry.name).reverse())
    else if (meant !== undefined) rest.push(meant)
    else {
      const provider = missingProvider(name, table)
      if (provider !== undefined) missing.add(provider)
    }
  }
  return [...missing]
}

/** The provider in a name `<provider>/<model>`, when it is known but has no active connection. */
function missingProvider(model: string, { catalog, connections, byName }: RouteTable) {
  const name = model.slice(0, Math.max(0, model.indexOf('/')))
  if (name === '' || byName.has(name)) return undefined
  const known = [...Object.keys(catalog).map((provider) => ({ provider })), ...connections]
  return known.find((one) => {
    const { output, catalog: filed, id } = namesOf(catalog, one)
    return name === id || name === output || name === filed
  })?.provider
}

/**
 * All names that lead to a target, as far as they are known without asking a provider. Without any connection: the names that would with one,
 * as in the listing. A name may occur more than once.
 */
export async function knownNames(table: RouteTable): Promise<string[]> {
  return [...namesIn(table, await table.customModels())]
}

function* namesIn(
  { catalog, byName, combos, aliases, resolutionOf }: RouteTable,
  customModels: readonly CustomModel[],
) {
  yield* combos.keys()
  yield* aliases.keys()
  if (byName.size === 0) yield* catalogNames(catalog)
  for (const [name, [first]] of byName) {
    if (first && namesOf(catalog, first).output === name) yield* modelNames(first, catalog)
  }
  for (const { providerAlias, id, type = 'llm' } of customModels) {
    const [first] = byName.get(providerAlias) ?? []
    if (first && type === 'llm' && id.trim() !== '') yield `${namesOf(catalog, first).output}/${id.trim()}`
  }
  // A model in an alias or a combo is known to the operator; for a compatible provider there may be no other source.
  const named = [...aliases.values(), ...[...combos.values()].flatMap(({ entries }) => entries.map(({ name }) => name))]
  for (const model of named) if (resolutionOf(model)) yield model
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
