import type { Awaitable } from '../lib/awaitable.ts'
import { targetOf } from '../providers/target.ts'
import type { AliasRecord, ConnectionRecord, ProviderRecord } from '../store/store.ts'
import type { Catalog, Combo, CustomModel } from '../types.ts'
import { createFirsts, type Meaning } from './firsts.ts'
import { follow, type NextRoute, type OnDeadEnd } from './follow.ts'
import type { Entry, Group, Route, RouteTarget } from './group.ts'
import { comboGroup, connectionsGroup, spreadOf } from './groups.ts'
import { connectionsByName } from './named-connections.ts'
import type { Lookahead, Select } from './select.ts'

/** What routing reads of the store. */
export interface Routes {
  connections: readonly ConnectionRecord[]
  combos: readonly Combo[]
  aliases: readonly AliasRecord[]
  providers: readonly ProviderRecord[]
}

/** Turns model names into targets. */
export interface RouteTable {
  /**
   * The ways of a model name in the order in which to try them, worked out one by one as they are asked for: a combo, else an alias,
   * else `<alias>/<model_id>` by any of a provider's three names. `undefined` when the name means nothing.
   */
  resolve(model: string, select: Select, onDeadEnd?: OnDeadEnd): NextRoute | undefined
  /** The first providers that a name leads to and to which no active connection does. */
  missingProviders(model: string): Promise<string[]>
  /** The names of providers with an active connection, the one that the listing shows before its others. */
  providers(): Iterable<string>
  /** The ids of providers that the catalog knows, connected or not. */
  catalogProviders(): string[]
  /** The combo that a name stands for, directly or by aliases. */
  comboOf(model: string): Group | undefined
  /** All names that lead somewhere, as far as they can be known without asking a provider, or would if anything were connected. */
  names(): Promise<string[]>
}

/** So many names of models keep their targets. */
const MAX_KNOWN = 1_000

const MAX_REACH = 100

/** What a table needs besides what it is compiled from. */
export interface RouteTableDependencies {
  catalog: Catalog
  /** Read only for `names`. */
  customModels: () => Awaitable<readonly CustomModel[]>
}

/** Compiles what is configured, to be asked for the routes of a name. */
export function createRouteTable(routes: Routes, { catalog, customModels }: RouteTableDependencies): RouteTable {
  const combos = new Map(routes.combos.map((combo) => [combo.name, comboGroup(combo)]))
  const aliases = new Map(routes.aliases.map(({ alias, model }) => [alias, model]))
  const providers = new Map(routes.providers.map((record) => [record.provider, record]))
  const connections = connectionsByName(routes.connections, catalog)
  const known = new Map<string, readonly Route[]>()
  const lookahead: Lookahead = { ...createFirsts(catalog, meaningOf), reach: (entry) => reach(entry) }

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

  function* reach(entry: Entry, look = { left: MAX_REACH }): Generator<RouteTarget> {
    if (look.left-- <= 0) return // in a circle, too
    const meaning = meaningOfEntry(entry)
    if (meaning && 'strategy' in meaning) for (const inner of meaning.entries) yield* reach(inner, look)
    else for (const { target } of meaning ?? []) yield target
  }

  const meaningOfEntry = ({ target, name }: Entry, within?: Group): Meaning =>
    target ? [{ target }] : meaningOf(name, within)

  function direct(model: string, within?: Group): Meaning {
    const found = known.get(model) ?? findRoutes(model)
    if (found && known.size < MAX_KNOWN) known.set(model, found)
    const [first] = found ?? []
    if (!found || !first || found.length === 1) return found
    const { provider } = first.target
    const spread = spreadOf(provider, { within, record: providers.get(provider) })
    return spread ? connectionsGroup(found, spread) : found
  }

  function findRoutes(model: string): Route[] | undefined {
    for (let slash = model.lastIndexOf('/'); slash > 0; slash = model.lastIndexOf('/', slash - 1)) {
      const named = connections.get(model.slice(0, slash))
      const id = model.slice(slash + 1)
      if (named && id !== '') return named.map((connection) => ({ target: targetOf(catalog, connection, id) }))
    }
    return undefined
  }

  return {
    resolve(model, select, onDeadEnd) {
      const meaning = meaningOf(model)
      return (
        meaning &&
        ('strategy' in meaning
          ? follow(meaning, { select, lookahead, meaningOf: meaningOfEntry, onDeadEnd })
          : each(meaning))
      )
    },
    async missingProviders(model) {
      const { missingProviders } = await import('./missing-providers.ts')
      const isConnected = (name: string) => connections.has(name)
      return missingProviders(model, { ...routes, catalog, combos, aliases, isConnected })
    },
    providers: () => connections.keys(),
    catalogProviders: () => Object.keys(catalog),
    comboOf(model) {
      const meaning = meaningOf(model)
      return meaning && 'strategy' in meaning ? combos.get(meaning.name) : undefined
    },
    async names() {
      const { knownNames } = await import('./known-names.ts')
      const leads = (model: string) => direct(model) !== undefined
      return [...knownNames({ ...routes, catalog, combos, connections, customModels: await customModels(), leads })]
    },
  }
}

function each(routes: readonly Route[]): NextRoute {
  let at = 0
  return () => routes[at++]
}
