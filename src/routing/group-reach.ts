import { priceOf as pricesOf } from '../providers/catalog-model.ts'
import type { Catalog } from '../types.ts'
import type { Group, GroupEntry, Inputs, Resolution, RouteTarget } from './group.ts'
import type { RouteTable } from './route-table.ts'
import type { GroupReach, Representatives } from './select.ts'
import { strategyOf } from './strategies.ts'

/** Combos that are nested deeper than this have no known price. */
const MAX_DEPTH = 100

/** Makes the look-up. It caches, and must not be used longer than the routes for which it is made. */
export function createRepresentatives(catalog: Catalog, resolutionOf: (model: string) => Resolution): Representatives {
  const representatives = new Map<string, RouteTarget | undefined>()
  const costs = new Map<RouteTarget, number | undefined>()

  function representativeOf({ target, name }: GroupEntry, depth = 0): RouteTarget | undefined {
    if (target || representatives.has(name) || depth > MAX_DEPTH) return target ?? representatives.get(name)
    representatives.set(name, undefined) // read when a cycle of combos leads here again
    const resolution = resolutionOf(name)
    const first = resolution && 'strategy' in resolution ? firstOfGroup(resolution, depth + 1) : resolution?.[0]?.target
    representatives.set(name, first)
    return first
  }

  function firstOfGroup({ strategy, label, entries }: Group, depth: number): RouteTarget | undefined {
    const costOf = (entry: GroupEntry) => priceOf(representativeOf(entry, depth))
    for (const entry of strategyOf(strategy).order(entries, { ...NEUTRAL_INPUTS, label, costOf })) {
      const first = representativeOf(entry, depth)
      if (first) return first
    }
    return undefined
  }

  function priceOf(target: RouteTarget | undefined): number | undefined {
    if (!target) return undefined
    if (!costs.has(target)) costs.set(target, priceIn(catalog, target))
    return costs.get(target)
  }

  return { representativeOf: (entry) => representativeOf(entry), costOf: (entry) => priceOf(representativeOf(entry)) }
}

/** Inputs without measurements, and with a random number that leaves the first entry first. */
const NEUTRAL_INPUTS: Omit<Inputs, 'label' | 'costOf'> = {
  random: () => 0,
  turn: 0,
  session: '',
  pin: undefined,
  latencyOf: () => 0,
  loadOf: () => 0,
}

function priceIn(catalog: Catalog, target: RouteTarget): number | undefined {
  const { input, output, search, page } = pricesOf(catalog, target) ?? {}
  if (input === undefined && output === undefined) return search ?? page // what is not charged by tokens
  return input === undefined || output === undefined ? undefined : input + output
}

/** The most steps of `reach`. */
const MAX_REACH = 100

const reaches = new WeakMap<RouteTable, GroupReach>()

/** The look-ups about the entries of a table's groups. They cache, so that each table needs its own. */
export function groupReachOf(table: RouteTable): GroupReach {
  const known = reaches.get(table)
  if (known) return known
  const made = createGroupReach(table)
  reaches.set(table, made)
  return made
}

/** Resolves an entry of a group; `within`: the group that decides how connections are chosen. */
export const resolutionOfEntry = (table: RouteTable, { target, name }: GroupEntry, within?: Group): Resolution =>
  target ? [{ target }] : table.resolutionOf(name, within)

function createGroupReach(table: RouteTable): GroupReach {
  function* reach(entry: GroupEntry, look = { left: MAX_REACH }): Generator<RouteTarget> {
    if (look.left-- <= 0) return // also ends a cycle
    const resolution = resolutionOfEntry(table, entry)
    if (resolution && 'strategy' in resolution) for (const inner of resolution.entries) yield* reach(inner, look)
    else for (const { target } of resolution ?? []) yield target
  }

  return { ...createRepresentatives(table.catalog, table.resolutionOf), reach: (entry) => reach(entry) }
}
