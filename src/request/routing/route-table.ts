import { evictOldest } from '../../lib/maps.ts'
import { trackValue } from '../../lib/promises.ts'
import { findEndpoint } from '../../protocols/kinds/kinds.ts'
import { sortActiveConnections } from '../../protocols/providers/provider-connections.ts'
import { getProviderNames } from '../../protocols/providers/provider-names.ts'
import { createTarget } from '../../protocols/providers/target.ts'
import type { CodeRecords } from '../../records/code-records.ts'
import { readRules } from '../../records/readings.ts'
import type { ComboRecord } from '../../records/record-collections.ts'
import type { AliasRecord, ConnectionRecord, ProviderRecord, Store } from '../../records/store.ts'
import type { Catalog, Combo, CustomModel, Price } from '../../types.ts'
import type { Group, Resolution, Route, RouteTarget } from './group.ts'
import { DEFAULT_STRATEGY } from './group.ts'

/** The strategy for a provider's connections. */
export type ConnectionStrategy = Pick<Group, 'label' | 'revision' | 'strategy' | 'stickyLimit'>

/** Returns the key for a combo's state, such as its turns. */
export const getComboLabel = (name: string): string => `combo/${name}`

const getProviderLabel = (provider: string): string => `provider/${provider}`

/** Converts a combo to a group of its models. */
export const toGroup = (combo: ComboRecord): Group => ({
  name: combo.name,
  label: getComboLabel(combo.name),
  revision: combo.revision,
  strategy: combo.strategy,
  stickyLimit: combo.stickyLimit ?? 1,
  hedge: combo.hedge ?? false,
  kind: combo.kind ?? 'llm',
  sameVectors: combo.sameVectors,
  retryAmbiguous: combo.retryAmbiguous,
  on: combo.on,
  connectionStrategy: combo.connectionStrategy,
  guards: combo.guards,
  rules: readRules(combo),
  entries: combo.models.map((entry, index) => {
    if (typeof entry === 'string') return { index, name: entry, weight: 1 }
    const { model: name, weight = 1, ...otherFields } = entry
    return { ...otherFields, index, name, weight }
  }),
})

/** Returns the model part of names in a group of this kind, if all providers of the kind offer the same service. */
const getService = (group: Pick<Group, 'kind'> | undefined): string | undefined =>
  group?.kind && findEndpoint(group.kind)?.service

/** Completes names that consist only of a provider, such as `tavily` to `tavily/search`. `usedNames` contains the names that aren't providers. */
function completeNames(group: Group, usedNames: ReadonlySet<string>): Group {
  if (getService(group) === undefined) return group
  return {
    ...group,
    entries: group.entries.map((entry) => ({ ...entry, name: completeName(entry.name, group, usedNames) })),
  }
}

/** Completes a combo entry name that consists only of a provider. */
export function completeName(
  name: string,
  { kind }: Pick<Group, 'kind'>,
  usedNames: { has(name: string): boolean },
): string {
  const service = kind && findEndpoint(kind)?.service
  return service === undefined || name.includes('/') || usedNames.has(name) ? name : `${name}/${service}`
}

/** Creates the group of a provider's connections that offer one of its models. */
export const createConnectionGroup = (routes: readonly Route[], strategy: ConnectionStrategy): Group => ({
  ...strategy,
  name: routes[0]?.target.provider ?? '',
  hedge: false,
  entries: routes.map(({ target }, index) => ({ index, name: target.connection.id, weight: 1, target })),
})

/**
 * Returns the strategy for a provider's connections: from the combo that names the provider, or else the provider's own. `undefined` means by
 * priority.
 */
export function getConnectionStrategy(
  provider: string,
  { within: group, record }: { within: Group | undefined; record: ProviderRecord | undefined },
): ConnectionStrategy | undefined {
  const groupStrategy = group?.connectionStrategy
  const connectionStrategy =
    group && groupStrategy
      ? {
          label: `${group.label}/${provider}`,
          revision: group.revision,
          strategy: groupStrategy,
          stickyLimit: group.stickyLimit,
        }
      : record && { label: getProviderLabel(provider), strategy: record.strategy, stickyLimit: record.stickyLimit ?? 1 }
  return connectionStrategy?.strategy === DEFAULT_STRATEGY ? undefined : connectionStrategy
}

/** Active connections by each of their three names, in the order in which they are used. */
export type NamedConnections = ReadonlyMap<string, readonly ConnectionRecord[]>

/** Groups active connections by their names. */
export function groupConnectionsByName(connections: readonly ConnectionRecord[], catalog: Catalog): NamedConnections {
  const byName = new Map<string, ConnectionRecord[]>()
  for (const connection of sortActiveConnections(connections)) {
    const names = getProviderNames(catalog, connection)
    for (const name of new Set([names.output, names.catalog, names.id])) {
      const existing = byName.get(name)
      if (existing) existing.push(connection)
      else byName.set(name, [connection])
    }
  }
  return byName
}

/** The records that routing uses. */
export interface RoutingRecords {
  connections: readonly ConnectionRecord[]
  combos: readonly Combo[]
  aliases: readonly AliasRecord[]
  providers: readonly ProviderRecord[]
  /** The custom models, for their prices. */
  customModels: readonly CustomModel[]
}

/** Finds the targets of model names. */
export interface RouteTable {
  /**
   * Resolves a model name: a combo, else an alias, else `<alias>/<model_id>` by any of a provider's three names. Returns a group, or at least one
   * route in the order of attempts. Returns `undefined` if the name is unknown. `parent` is the group that determines how connections are chosen.
   * `service` is the model part for a name that is only a provider. By default, it is the service of the group's kind, if any.
   */
  resolveModel(model: string, parent?: Group, service?: string): Resolution
  /**
   * Finds the targets that a request for this name may use, by priority. Returns none for a combo, which chooses per request, and `undefined` if the
   * name doesn't resolve.
   */
  findTargets(model: string): readonly RouteTarget[] | undefined
  readonly catalog: Catalog
  /** The records defined in code that the table was created from. */
  readonly code: CodeRecords
  readonly combos: ReadonlyMap<string, Group>
  /** Whether a combo has guards. */
  readonly hasGuards: boolean
  /** The active connections by their providers' names. The model list contains the first connection for each name. */
  readonly namedConnections: NamedConnections
  /** All connections, including inactive ones. */
  readonly connections: readonly ConnectionRecord[]
  /** The gateway's base path, for errors that name an endpoint. */
  readonly basePath: string
  /** The models that aliases point to. */
  readonly aliases: ReadonlyMap<string, string>
  /** The results of `getCallableName`, by target. */
  readonly callableNames: WeakMap<RouteTarget, string>
  /** Finds the combo with this name, directly or through aliases. */
  findCombo(model: string): Group | undefined
  /** Like `findCombo`, but only returns a combo with its own request rules. */
  findRuledCombo(model: string): Group | undefined
  /** Reads the custom models. Rejects with `STORAGE_FAILED`. */
  loadCustomModels(): Promise<readonly CustomModel[]>
}

/** Maximum number of model names with cached targets. */
const MAX_CACHED_NAMES = 1_000

/** The dependencies of a route table, in addition to its records. */
export interface RouteTableDependencies {
  catalog: Catalog
  /** The gateway's base path. Default: none. */
  basePath?: string
  loadCustomModels(): Promise<readonly CustomModel[]>
  code: CodeRecords
}

/** Creates the route table for the given records. */
export function createRouteTable(
  routes: RoutingRecords,
  { catalog, basePath = '', loadCustomModels, code }: RouteTableDependencies,
): RouteTable {
  const aliases = new Map(routes.aliases.map(({ alias, model }) => [alias, model]))
  const usedNames = new Set([...aliases.keys(), ...routes.combos.map(({ name }) => name)])
  const combos = new Map(routes.combos.map((combo) => [combo.name, completeNames(toGroup(combo), usedNames)]))
  const providers = new Map(routes.providers.map((record) => [record.provider, record]))
  const connections = groupConnectionsByName(routes.connections, catalog)
  const routesByModel = new Map<string, readonly Route[]>()
  const pricedModels = routes.customModels.filter(({ prices }) => prices)
  const hasRuledCombos = [...combos.values()].some(({ rules }) => rules)

  function resolveModel(model: string, parent?: Group, service = getService(parent)): Resolution {
    let name = model
    for (let hops = 0; hops <= aliases.size; hops++) {
      const combo = combos.get(name)
      if (combo) return combo
      const aliasTarget = aliases.get(name)
      if (aliasTarget === undefined || aliasTarget === name) return resolveDirectly(name, parent, service)
      name = aliasTarget
    }
    return undefined // a cycle of aliases, which only two concurrent writers can create
  }

  function resolveDirectly(model: string, parent: Group | undefined, service: string | undefined): Resolution {
    const foundRoutes =
      routesByModel.get(model) ??
      cacheRoutes(model) ??
      (service === undefined ? undefined : cacheRoutes(`${model}/${service}`))
    const [firstRoute] = foundRoutes ?? []
    if (!foundRoutes || !firstRoute || foundRoutes.length === 1) return foundRoutes
    const { provider } = firstRoute.target
    const strategy = getConnectionStrategy(provider, { within: parent, record: providers.get(provider) })
    return strategy ? createConnectionGroup(foundRoutes, strategy) : foundRoutes
  }

  function cacheRoutes(model: string): readonly Route[] | undefined {
    const foundRoutes = findRoutes(model)
    if (!foundRoutes) return undefined
    evictOldest(routesByModel, MAX_CACHED_NAMES)
    routesByModel.set(model, foundRoutes)
    return foundRoutes
  }

  function findRoutes(model: string): Route[] | undefined {
    for (let slash = model.lastIndexOf('/'); slash > 0; slash = model.lastIndexOf('/', slash - 1)) {
      const namedConnections = connections.get(model.slice(0, slash))
      const id = model.slice(slash + 1)
      if (namedConnections && id !== '')
        return namedConnections.map((connection) => ({
          target: createTarget(catalog, connection, id, findCustomPrice(connection, id)),
        }))
    }
    return undefined
  }

  function findCustomPrice(connection: ConnectionRecord, id: string): Price | undefined {
    if (pricedModels.length === 0) return undefined
    const names: string[] = Object.values(getProviderNames(catalog, connection))
    return pricedModels.find((model) => model.id.trim() === id && names.includes(model.providerAlias))?.prices
  }

  function findCombo(model: string): Group | undefined {
    const resolution = resolveModel(model)
    return resolution && 'strategy' in resolution ? combos.get(resolution.name) : undefined
  }

  function findTargets(model: string): readonly RouteTarget[] | undefined {
    const resolution = resolveModel(model)
    if (!resolution || findCombo(model)) return resolution && []
    return 'strategy' in resolution
      ? resolution.entries.flatMap(({ target }) => target ?? [])
      : resolution.map(({ target }) => target)
  }

  return {
    resolveModel,
    findTargets,
    combos,
    hasGuards: routes.combos.some(({ guards }) => guards),
    namedConnections: connections,
    catalog,
    code,
    connections: routes.connections,
    basePath,
    aliases,
    callableNames: new WeakMap(),
    findCombo,
    findRuledCombo(model) {
      const combo = hasRuledCombos ? findCombo(model) : undefined
      return combo?.rules && combo
    },
    loadCustomModels,
  }
}

/**
 * Returns the provider name with which clients can request the target again, as `<name>/<model>`. Of its connection's three names, it is the one that
 * resolves to the target and to the fewest other connections. If several do, the provider's ID is preferred.
 */
export function getCallableName(
  target: RouteTarget,
  table: Pick<RouteTable, 'catalog' | 'resolveModel' | 'callableNames'>,
): string {
  const name = table.callableNames.get(target) ?? findCallableName(target, table)
  table.callableNames.set(target, name)
  return name
}

function findCallableName(
  { connection, provider, model }: RouteTarget,
  { catalog, resolveModel }: Pick<RouteTable, 'catalog' | 'resolveModel'>,
): string {
  let bestName = provider
  let fewestTargets = Number.POSITIVE_INFINITY
  const { output, catalog: catalogAlias, id } = getProviderNames(catalog, connection)
  for (const name of [id, output, catalogAlias]) {
    const resolution = resolveModel(`${name}/${model}`) ?? []
    const targets =
      'strategy' in resolution
        ? resolution.entries.map((entry) => entry.target)
        : resolution.map(({ target }) => target)
    const reachesTarget = targets.some((target) => target?.connection.id === connection.id && target.model === model)
    if (!reachesTarget || targets.length >= fewestTargets) continue
    bestName = name
    fewestTargets = targets.length
    if (fewestTargets === 1) break // stops early, because most names lead to only one connection
  }
  return bestName
}

/**
 * Creates the function that returns the current route table. Rebuilds the table only if its data has changed. The function rejects with
 * `STORAGE_FAILED`.
 */
export function createModelRouter({
  store,
  ...tableOptions
}: {
  store: Store
  catalog: Catalog
  basePath: string
}): () => Promise<RouteTable> {
  const dependencies = { ...tableOptions, loadCustomModels: () => store.customModels.all() }
  let compiled: { records: RoutingRecords; table: RouteTable } | undefined
  let lastBuild: { reads: readonly unknown[]; table: Promise<RouteTable> } | undefined

  function compile(records: RoutingRecords, code: CodeRecords): RouteTable {
    if (!compiled || !hasSameItems(Object.values(compiled.records), Object.values(records)))
      compiled = { records, table: createRouteTable(records, { ...dependencies, code }) }
    return compiled.table
  }

  return function getTable(): Promise<RouteTable> {
    const { connections, combos, aliases, providers, customModels, code } = store
    const { records } = code
    const reads = [connections.all(), combos.all(), aliases.all(), providers.all(), customModels.all()] as const
    if (lastBuild && hasSameItems(lastBuild.reads, reads)) return lastBuild.table
    const [connectionRecords, comboRecords, aliasRecords, providerRecords, modelRecords] = reads
    const pricedModels = modelRecords.catch(() => NO_MODELS) // requests continue without custom prices, and the next one reads them again
    const table = trackValue(
      Promise.all([connectionRecords, comboRecords, aliasRecords, providerRecords, pricedModels]).then(
        ([connections, combos, aliases, providers, customModels]) =>
          code.records === records // otherwise, some records may have been read before a reload
            ? compile({ connections, combos, aliases, providers, customModels }, records)
            : getTable(),
      ),
    )
    lastBuild = { reads, table }
    return table
  }
}

const NO_MODELS: readonly CustomModel[] = []

const hasSameItems = (items: readonly unknown[], otherItems: readonly unknown[]) =>
  items.every((item, index) => item === otherItems[index])
