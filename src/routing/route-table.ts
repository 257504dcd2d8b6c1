import { endpointOf } from '../kinds/kinds.ts'
import { evictOldest } from '../lib/maps.ts'
import { activeInOrder } from '../providers/connections.ts'
import { namesOf } from '../providers/names.ts'
import { targetOf } from '../providers/target.ts'
import type { ComboRecord } from '../store/collections.ts'
import { storedRules } from '../store/readings.ts'
import type { AliasRecord, ConnectionRecord, ProviderRecord, Store } from '../store/store.ts'
import type { Catalog, Combo, CustomModel, Price } from '../types.ts'
import type { Group, Resolution, Route, RouteTarget } from './group.ts'
import { DEFAULT_STRATEGY } from './group.ts'

/** The strategy among a provider's connections. */
export type ConnectionStrategy = Pick<Group, 'label' | 'edition' | 'strategy' | 'stickyLimit'>

/** The key of a combo's state, such as its turns. */
export const comboLabel = (name: string): string => `combo/${name}`

/** The key of the state of a provider's connections. */
const providerLabel = (provider: string): string => `provider/${provider}`

/** A combo as a group of its models. */
export const comboGroup = (combo: ComboRecord): Group => ({
  name: combo.name,
  label: comboLabel(combo.name),
  edition: combo.revision,
  strategy: combo.strategy,
  stickyLimit: combo.stickyLimit ?? 1,
  hedge: combo.hedge ?? false,
  kind: combo.kind ?? 'llm',
  sameVectors: combo.sameVectors,
  retryAmbiguous: combo.retryAmbiguous,
  on: combo.on,
  connectionStrategy: combo.connectionStrategy,
  rules: storedRules(combo),
  entries: combo.models.map((entry, index) => {
    if (typeof entry === 'string') return { index, name: entry, weight: 1 }
    const { model: name, weight = 1, when, voices, params } = entry
    return { index, name, weight, when, voices, params }
  }),
})

/** What stands for the model in the names of what a group of this kind has, where all providers of the kind do the same. */
const serviceOf = (group: Pick<Group, 'kind'> | undefined): string | undefined =>
  group?.kind && endpointOf(group.kind)?.service

/** The group with whole names in place of those of providers alone, such as `tavily/search` for `tavily`. `taken`: names that are no providers'. */
function withServices(group: Group, taken: ReadonlySet<string>): Group {
  if (serviceOf(group) === undefined) return group
  return { ...group, entries: group.entries.map((entry) => ({ ...entry, name: wholeName(entry.name, group, taken) })) }
}

/** The name of a model, where a combo has that of a provider alone. */
export function wholeName(name: string, { kind }: Pick<Group, 'kind'>, taken: { has(name: string): boolean }): string {
  const service = kind && endpointOf(kind)?.service
  return service === undefined || name.includes('/') || taken.has(name) ? name : `${name}/${service}`
}

/** The connections of a provider that serve one of its models, as a group. */
export const connectionsGroup = (routes: readonly Route[], strategy: ConnectionStrategy): Group => ({
  ...strategy,
  name: routes[0]?.target.provider ?? '',
  hedge: false,
  entries: routes.map(({ target }, index) => ({ index, name: target.connection.id, weight: 1, target })),
})

/** The strategy among a provider's connections: that of the combo that names it, otherwise the provider's; `undefined`: by priority. */
export function connectionStrategyOf(
  provider: string,
  { within, record }: { within: Group | undefined; record: ProviderRecord | undefined },
): ConnectionStrategy | undefined {
  const own = within?.connectionStrategy
  const chosen =
    within && own
      ? {
          label: `${within.label}/${provider}`,
          edition: within.edition,
          strategy: own,
          stickyLimit: within.stickyLimit,
        }
      : record && { label: providerLabel(provider), strategy: record.strategy, stickyLimit: record.stickyLimit ?? 1 }
  return chosen?.strategy === DEFAULT_STRATEGY ? undefined : chosen
}

/** Active connections by each of their three names, in the order in which they are used. */
export type NamedConnections = ReadonlyMap<string, readonly ConnectionRecord[]>

/** Files active connections under their names. */
export function connectionsByName(connections: readonly ConnectionRecord[], catalog: Catalog): NamedConnections {
  const byName = new Map<string, ConnectionRecord[]>()
  for (const connection of activeInOrder(connections)) {
    const names = namesOf(catalog, connection)
    for (const name of new Set([names.output, names.catalog, names.id])) {
      const named = byName.get(name)
      if (named) named.push(connection)
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
  /** For their prices. */
  customModels: readonly CustomModel[]
}

/** Finds the targets of model names. */
export interface RouteTable {
  /**
   * Resolves a model name: a combo, else an alias, else `<alias>/<model_id>` by any of a provider's three names. Returns a group, or at least
   * one route in the order in which to try them; `undefined` when the name is unknown. `within`: the group that decides how connections are
   * chosen. `service`: what stands for the model where the name is that of a provider alone; default: that of the group's kind, if it has one.
   */
  resolutionOf(model: string, within?: Group, service?: string): Resolution
  /**
   * The targets that a request for this name may have, by priority; none for a combo, which chooses with each request; `undefined` when the
   * name leads nowhere.
   */
  targetsOf(model: string): readonly RouteTarget[] | undefined
  readonly catalog: Catalog
  readonly combos: ReadonlyMap<string, Group>
  /** The active connections by the names of their providers; of each name first the connection that is in the listing. */
  readonly byName: NamedConnections
  /** All connections, inactive ones too. */
  readonly connections: readonly ConnectionRecord[]
  /** The path that the gateway is mounted below, for errors that name an endpoint. */
  readonly basePath: string
  /** The models of the aliases. */
  readonly aliases: ReadonlyMap<string, string>
  /** The combo of a name, directly or by aliases. */
  comboOf(model: string): Group | undefined
  /** Like `comboOf`, but only a combo with rules of its own for its requests. */
  ruledCombo(model: string): Group | undefined
  /** Rejects with `STORAGE_FAILED`. */
  customModels(): Promise<readonly CustomModel[]>
}

/** The number of model names whose targets are cached. */
const MAX_KNOWN = 1_000

/** What a route table depends on besides its records. */
export interface RouteTableDependencies {
  catalog: Catalog
  /** Default: none. */
  basePath?: string
  customModels(): Promise<readonly CustomModel[]>
}

/** Makes the route table of the given records. */
export function createRouteTable(
  routes: RoutingRecords,
  { catalog, basePath = '', customModels }: RouteTableDependencies,
): RouteTable {
  const aliases = new Map(routes.aliases.map(({ alias, model }) => [alias, model]))
  const taken = new Set([...aliases.keys(), ...routes.combos.map(({ name }) => name)])
  const combos = new Map(routes.combos.map((combo) => [combo.name, withServices(comboGroup(combo), taken)]))
  const providers = new Map(routes.providers.map((record) => [record.provider, record]))
  const connections = connectionsByName(routes.connections, catalog)
  const known = new Map<string, readonly Route[]>()
  const priced = routes.customModels.filter(({ prices }) => prices)
  const areRuled = [...combos.values()].some(({ rules }) => rules)

  function resolutionOf(model: string, within?: Group, service = serviceOf(within)): Resolution {
    let name = model
    for (let hops = 0; hops <= aliases.size; hops++) {
      const combo = combos.get(name)
      if (combo) return combo
      const meant = aliases.get(name)
      if (meant === undefined || meant === name) return direct(name, within, service)
      name = meant
    }
    return undefined // a cycle of aliases, which only two simultaneous writers can make
  }

  function direct(model: string, within: Group | undefined, service: string | undefined): Resolution {
    const found = known.get(model) ?? learn(model) ?? (service === undefined ? undefined : learn(`${model}/${service}`))
    const [first] = found ?? []
    if (!found || !first || found.length === 1) return found
    const { provider } = first.target
    const strategy = connectionStrategyOf(provider, { within, record: providers.get(provider) })
    return strategy ? connectionsGroup(found, strategy) : found
  }

  function learn(model: string): readonly Route[] | undefined {
    const found = findRoutes(model)
    if (!found) return undefined
    evictOldest(known, MAX_KNOWN)
    known.set(model, found)
    return found
  }

  function findRoutes(model: string): Route[] | undefined {
    for (let slash = model.lastIndexOf('/'); slash > 0; slash = model.lastIndexOf('/', slash - 1)) {
      const named = connections.get(model.slice(0, slash))
      const id = model.slice(slash + 1)
      if (named && id !== '')
        return named.map((connection) => ({ target: targetOf(catalog, connection, id, customPrice(connection, id)) }))
    }
    return undefined
  }

  function customPrice(connection: ConnectionRecord, id: string): Price | undefined {
    if (priced.length === 0) return undefined
    const names: string[] = Object.values(namesOf(catalog, connection))
    return priced.find((model) => model.id.trim() === id && names.includes(model.providerAlias))?.prices
  }

  function comboOf(model: string): Group | undefined {
    const resolution = resolutionOf(model)
    return resolution && 'strategy' in resolution ? combos.get(resolution.name) : undefined
  }

  function targetsOf(model: string): readonly RouteTarget[] | undefined {
    const meaning = resolutionOf(model)
    if (!meaning || comboOf(model)) return meaning && []
    return 'strategy' in meaning
      ? meaning.entries.flatMap(({ target }) => target ?? [])
      : meaning.map(({ target }) => target)
  }

  return {
    resolutionOf,
    targetsOf,
    combos,
    byName: connections,
    catalog,
    connections: routes.connections,
    basePath,
    aliases,
    comboOf,
    ruledCombo(model) {
      const combo = areRuled ? comboOf(model) : undefined
      return combo?.rules && combo
    },
    customModels,
  }
}

/**
 * The name of a target's provider under which a request reaches it again, as `<name>/<model>`: that one of the three names of its connection which
 * leads there and to the fewest other connections, and of several the id of the provider, if it is among them.
 */
export function askableName(
  { connection, provider, model }: Route['target'],
  { catalog, resolutionOf }: Pick<RouteTable, 'catalog' | 'resolutionOf'>,
): string {
  let best = provider
  let fewest = Number.POSITIVE_INFINITY
  const { output, catalog: filed, id } = namesOf(catalog, connection)
  for (const name of [id, output, filed]) {
    const found = resolutionOf(`${name}/${model}`) ?? []
    const targets = 'strategy' in found ? found.entries.map((entry) => entry.target) : found.map(({ target }) => target)
    const leadsThere = targets.some((one) => one?.connection.id === connection.id && one.model === model)
    if (!leadsThere || targets.length >= fewest) continue
    best = name
    fewest = targets.length
    if (fewest === 1) break // most names lead to one connection
  }
  return best
}

/**
 * Makes the function that resolves to the current route table, which is compiled again only when its data has changed. Rejects with
 * `STORAGE_FAILED`.
 */
export function createModelRouter({
  store,
  ...shared
}: {
  store: Store
  catalog: Catalog
  basePath: string
}): () => Promise<RouteTable> {
  const deps = { ...shared, customModels: () => store.customModels.all() }
  let compiled: { from: RoutingRecords; table: RouteTable } | undefined
  let last: { reads: readonly unknown[]; table: Promise<RouteTable> } | undefined

  function tableOf(from: RoutingRecords): RouteTable {
    if (!compiled || !isSame(Object.values(compiled.from), Object.values(from)))
      compiled = { from, table: createRouteTable(from, deps) }
    return compiled.table
  }

  return () => {
    const { connections, combos, aliases, providers, customModels } = store
    const reads = [connections.all(), combos.all(), aliases.all(), providers.all(), customModels.all()] as const
    if (last && isSame(last.reads, reads)) return last.table
    const [ofConnections, ofCombos, ofAliases, ofProviders, ofModels] = reads
    const priced = ofModels.catch(() => NO_MODELS) // requests go on without their prices, and the next one reads them again
    const table = Promise.all([ofConnections, ofCombos, ofAliases, ofProviders, priced]).then(
      ([connections, combos, aliases, providers, customModels]) =>
        tableOf({ connections, combos, aliases, providers, customModels }),
    )
    last = { reads, table }
    return table
  }
}

const NO_MODELS: readonly CustomModel[] = []

const isSame = (some: readonly unknown[], others: readonly unknown[]) => some.every((one, at) => one === others[at])
