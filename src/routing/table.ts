import type { Awaitable } from '../lib/awaitable.ts'
import { makeRoom } from '../lib/make-room.ts'
import { targetOf } from '../providers/target.ts'
import type { AliasRecord, ConnectionRecord, ProviderRecord } from '../store/store.ts'
import type { Catalog, Combo, CustomModel } from '../types.ts'
import type { Meaning } from './firsts.ts'
import type { Group, Route } from './group.ts'
import { comboGroup, connectionsGroup, spreadOf } from './groups.ts'
import { connectionsByName } from './named-connections.ts'

/** The records that routing uses. */
export interface Routes {
  connections: readonly ConnectionRecord[]
  combos: readonly Combo[]
  aliases: readonly AliasRecord[]
  providers: readonly ProviderRecord[]
}

/** Finds the targets of model names. */
export interface RouteTable {
  /**
   * What a model name means: a combo, else an alias, else `<alias>/<model_id>` by any of a provider's three names. A group, or the routes in
   * the order in which to try them, at least one; `undefined` when the name is unknown. `within`: the group that decides how connections are
   * chosen.
   */
  meaningOf(model: string, within?: Group): Meaning
  /** The providers that a name leads to first and that have no active connection. */
  missingProviders(model: string): Promise<string[]>
  /** The names of providers with an active connection; of each, the one in the listing first. */
  providers(): Iterable<string>
  readonly catalog: Catalog
  /** The path that the gateway is mounted below, for errors that name an endpoint. */
  readonly basePath: string
  /** The models of the aliases. */
  readonly aliases: ReadonlyMap<string, string>
  /** The combo of a name, directly or by aliases. */
  comboOf(model: string): Group | undefined
  /** The same, if the combo has rules of its own for its requests. */
  ruledCombo(model: string): Group | undefined
  /** All names that lead to a target, as far as they are known without asking a provider; without any connection, those that would. */
  names(): Promise<string[]>
}

/** The number of model names whose targets are cached. */
const MAX_KNOWN = 1_000

/** What a table uses besides its records. */
export interface RouteTableDependencies {
  catalog: Catalog
  /** Default: none. */
  basePath?: string
  /** Used by `names` only. */
  customModels: () => Awaitable<readonly CustomModel[]>
}

/** Makes the route table of the given records. */
export function createRouteTable(
  routes: Routes,
  { catalog, basePath = '', customModels }: RouteTableDependencies,
): RouteTable {
  const combos = new Map(routes.combos.map((combo) => [combo.name, comboGroup(combo)]))
  const aliases = new Map(routes.aliases.map(({ alias, model }) => [alias, model]))
  const providers = new Map(routes.providers.map((record) => [record.provider, record]))
  const connections = connectionsByName(routes.connections, catalog)
  const known = new Map<string, readonly Route[]>()
  const areRuled = [...combos.values()].some(({ rules }) => rules)

  function meaningOf(model: string, within?: Group): Meaning {
    let name = model
    for (let hops = 0; hops <= aliases.size; hops++) {
      const combo = combos.get(name)
      if (combo) return combo
      const meant = aliases.get(name)
      if (meant === undefined || meant === name) return direct(name, within)
      name = meant
    }
    return undefined // a circle of aliases, which only two writers at once can make
  }

  function direct(model: string, within?: Group): Meaning {
    const found = known.get(model) ?? learn(model)
    const [first] = found ?? []
    if (!found || !first || found.length === 1) return found
    const { provider } = first.target
    const spread = spreadOf(provider, { within, record: providers.get(provider) })
    return spread ? connectionsGroup(found, spread) : found
  }

  function learn(model: string): readonly Route[] | undefined {
    const found = findRoutes(model)
    if (!found) return undefined
    makeRoom(known, MAX_KNOWN)
    known.set(model, found)
    return found
  }

  function findRoutes(model: string): Route[] | undefined {
    for (let slash = model.lastIndexOf('/'); slash > 0; slash = model.lastIndexOf('/', slash - 1)) {
      const named = connections.get(model.slice(0, slash))
      const id = model.slice(slash + 1)
      if (named && id !== '') return named.map((connection) => ({ target: targetOf(catalog, connection, id) }))
    }
    return undefined
  }

  function comboOf(model: string): Group | undefined {
    const meaning = meaningOf(model)
    return meaning && 'strategy' in meaning ? combos.get(meaning.name) : undefined
  }

  return {
    meaningOf,
    async missingProviders(model) {
      const { missingProviders } = await import('./missing-providers.ts')
      const isConnected = (name: string) => connections.has(name)
      return missingProviders(model, { ...routes, catalog, combos, aliases, isConnected })
    },
    providers: () => connections.keys(),
    catalog,
    basePath,
    aliases,
    comboOf,
    ruledCombo(model) {
      const combo = areRuled ? comboOf(model) : undefined
      return combo?.rules && combo
    },
    async names() {
      const { knownNames } = await import('./known-names.ts')
      const leads = (model: string) => direct(model) !== undefined
      return [...knownNames({ ...routes, catalog, combos, connections, customModels: await customModels(), leads })]
    },
  }
}
