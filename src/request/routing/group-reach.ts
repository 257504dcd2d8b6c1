import { getPrice as pricesOf } from '../../protocols/providers/catalog-model.ts'
import type { Catalog } from '../../types.ts'
import type { Group, GroupEntry, Resolution, RouteTarget, StrategyInputs } from './group.ts'
import type { RouteTable } from './route-table.ts'
import type { EntryLookup, Representatives } from './select.ts'
import { getStrategy } from './strategies.ts'

/** Maximum nesting depth of a combo with a known price. */
const MAX_DEPTH = 100

/** Creates the lookup. It caches results, so it must not outlive its routes. */
export function createRepresentatives(catalog: Catalog, resolveModel: (model: string) => Resolution): Representatives {
  const representatives = new Map<string, RouteTarget | undefined>()
  const costs = new WeakMap<RouteTarget, number | undefined>() // keyed by object, because targets with parameters are created per request

  function findRepresentative({ target, name }: GroupEntry, depth = 0): RouteTarget | undefined {
    if (target || representatives.has(name) || depth > MAX_DEPTH) return target ?? representatives.get(name)
    representatives.set(name, undefined) // returned if a cycle of combos leads back to this name
    const resolution = resolveModel(name)
    const representative =
      resolution && 'strategy' in resolution ? findFirstInGroup(resolution, depth + 1) : resolution?.[0]?.target
    representatives.set(name, representative)
    return representative
  }

  function findFirstInGroup({ strategy, label, entries }: Group, depth: number): RouteTarget | undefined {
    const getCost = (entry: GroupEntry) => getPrice(findRepresentative(entry, depth))
    for (const entry of getStrategy(strategy).order(entries, { ...NEUTRAL_INPUTS, label, getCost })) {
      const representative = findRepresentative(entry, depth)
      if (representative) return representative
    }
    return undefined
  }

  function getPrice(target: RouteTarget | undefined): number | undefined {
    if (!target) return undefined
    if (!costs.has(target)) costs.set(target, sumPrice(catalog, target))
    return costs.get(target)
  }

  return {
    getRepresentative: (entry) => findRepresentative(entry),
    getCost: (entry) => getPrice(findRepresentative(entry)),
  }
}

/** Inputs without measurements, and with a random number that leaves the first entry first. */
const NEUTRAL_INPUTS: Omit<StrategyInputs, 'label' | 'getCost'> = {
  random: () => 0,
  turnIndex: 0,
  session: '',
  pinnedEntryName: undefined,
  getLatency: () => 0,
  getLoad: () => 0,
}

function sumPrice(catalog: Catalog, target: RouteTarget): number | undefined {
  const { input, output, search, page } = pricesOf(catalog, target) ?? {}
  if (input === undefined && output === undefined) return search ?? page // for models that aren't billed by tokens
  return input === undefined || output === undefined ? undefined : input + output
}

/** Maximum number of steps of `listTargets`. */
const MAX_LOOKUP_STEPS = 100

const lookupsByTable = new WeakMap<RouteTable, EntryLookup>()

/** Returns the lookups for the entries in a table's groups. They cache results, so each table has its own. */
export function getEntryLookup(table: RouteTable): EntryLookup {
  const existing = lookupsByTable.get(table)
  if (existing) return existing
  const created = createEntryLookup(table)
  lookupsByTable.set(table, created)
  return created
}

/** Resolves a group's entry. `parent` is the group that determines how connections are chosen. */
export const resolveEntry = (table: RouteTable, { target, name }: GroupEntry, parent?: Group): Resolution =>
  target ? [{ target }] : table.resolveModel(name, parent)

function createEntryLookup(table: RouteTable): EntryLookup {
  function* walkTargets(entry: GroupEntry, budget = { remainingSteps: MAX_LOOKUP_STEPS }): Generator<RouteTarget> {
    if (budget.remainingSteps-- <= 0) return // a limit that also ends cycles
    const resolution = resolveEntry(table, entry)
    if (resolution && 'strategy' in resolution)
      for (const nestedEntry of resolution.entries) yield* walkTargets(nestedEntry, budget)
    else for (const { target } of resolution ?? []) yield target
  }

  return { ...createRepresentatives(table.catalog, table.resolveModel), listTargets: (entry) => walkTargets(entry) }
}
