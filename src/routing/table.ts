import type { Awaitable } from '../lib/awaitable.ts'
import { activeInOrder } from '../providers/connections.ts'
import { namesOf } from '../providers/names.ts'
import { type Target, targetOf } from '../providers/target.ts'
import type { AliasRecord, ConnectionRecord } from '../store/store.ts'
import type { Catalog, Combo, CustomModel } from '../types.ts'
import { createCosts, type Meaning } from './cost.ts'
import { knownNames } from './known-names.ts'
import { missingProviders } from './missing-providers.ts'
import type { Rotation } from './rotation.ts'
import { modelOf } from './strategies/entry.ts'
import { orderOf } from './strategies/strategies.ts'

export type RouteTarget = Target<ConnectionRecord>

/** What routing reads of the store. */
export interface Routes {
  connections: readonly ConnectionRecord[]
  combos: readonly Combo[]
  aliases: readonly AliasRecord[]
}

/** Turns model names into targets. */
export interface RouteTable {
  /**
   * The targets of a model name in the order in which to try them, worked out one by one as they are asked for: a combo, else an alias,
   * else `<alias>/<model_id>` by any of a provider's three names. `undefined` when the name means nothing.
   */
  resolve(model: string): Iterable<RouteTarget> | undefined
  /** The first providers that a name leads to and to which no active connection does. */
  missingProviders(model: string): string[]
  /** All names that lead somewhere, as far as they can be known without asking a provider. */
  names(): Promise<string[]>
}

/** So many combos are followed for one request at most: they may stand in each other. */
const MAX_COMBOS = 1_000

/** So many names of models keep their targets. */
const MAX_KNOWN = 1_000

export interface RouteTableDependencies {
  catalog: Catalog
  rotation: Rotation
  /** Another number in [0, 1) with each call. */
  random: () => number
  /** Read only for `names`. */
  customModels: () => Awaitable<readonly CustomModel[]>
}

export function createRouteTable(routes: Routes, deps: RouteTableDependencies): RouteTable {
  const { catalog, rotation, random } = deps
  const combos = new Map(routes.combos.map((combo) => [combo.name, combo]))
  const aliases = new Map(routes.aliases.map(({ alias, model }) => [alias, model]))
  const connections = connectionsByName(routes.connections, catalog)
  const known = new Map<string, readonly RouteTarget[]>()
  const costOf = createCosts(catalog, meaningOf)

  function resolve(model: string, seen?: Set<Combo>): Iterable<RouteTarget> | undefined {
    const meaning = meaningOf(model)
    return meaning && 'models' in meaning ? expand(meaning, seen ?? new Set()) : meaning
  }

  function meaningOf(model: string): Meaning<RouteTarget> {
    let name = model
    for (let hops = 0; hops <= aliases.size; hops++) {
      const combo = combos.get(name)
      if (combo) return combo
      const meant = aliases.get(name)
      if (meant === undefined || meant === name) return direct(name)
      name = meant
    }
    return undefined // a circle of aliases, which only two writers at once can make
  }

  /** What a combo leads to is tried once a request, however often and in whatever circle it is named. */
  function* expand(combo: Combo, seen: Set<Combo>): Iterable<RouteTarget> {
    if (seen.has(combo) || seen.size >= MAX_COMBOS) return
    seen.add(combo)
    const { name, models, strategy } = combo
    const turn = () => rotation.next(name, models.length)
    for (const entry of orderOf(strategy)(models, { random, turn, costOf })) yield* resolve(modelOf(entry), seen) ?? []
  }

  function direct(model: string): readonly RouteTarget[] | undefined {
    const before = known.get(model)
    if (before) return before
    const targets = findTargets(model)
    if (targets && known.size < MAX_KNOWN) known.set(model, targets)
    return targets
  }

  function findTargets(model: string): RouteTarget[] | undefined {
    for (let slash = model.lastIndexOf('/'); slash > 0; slash = model.lastIndexOf('/', slash - 1)) {
      const named = connections.get(model.slice(0, slash))
      const id = model.slice(slash + 1)
      if (named && id !== '') return named.map((connection) => targetOf(catalog, connection, id))
    }
    return undefined
  }

  return {
    resolve: (model) => resolve(model),
    missingProviders: (model) =>
      missingProviders(model, { ...routes, catalog, combos, aliases, isConnected: (name) => connections.has(name) }),
    names: async () => {
      const leads = (model: string) => direct(model) !== undefined
      return [...knownNames({ ...routes, catalog, connections, customModels: await deps.customModels(), leads })]
    },
  }
}

/** Active connections by each of their three names, in the order in which they are used. */
function connectionsByName(
  connections: readonly ConnectionRecord[],
  catalog: Catalog,
): Map<string, ConnectionRecord[]> {
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
