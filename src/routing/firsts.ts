import { catalogModelOf } from '../providers/catalog-model.ts'
import type { Catalog } from '../types.ts'
import type { Entry, Group, Route, RouteTarget } from './group.ts'
import type { Inputs } from './strategies/order.ts'
import { orderOf } from './strategies/strategies.ts'

/** What a model name stands for once its aliases are followed. */
export type Meaning = Group | readonly Route[] | undefined

/** Combos stand in each other; what is deeper than this has no known price. */
const MAX_DEPTH = 100

/** What stands for an entry when it is priced or measured. Takes no turn and leaves nothing to chance. */
export interface Firsts {
  /** The first target that the entry leads to; a combo that chooses anew each time counts with its first choice as listed. */
  firstOf(entry: Entry): RouteTarget | undefined
  /** Input plus output price of that target by the catalog, `undefined` when one of the two is not known. */
  costOf(entry: Entry): number | undefined
}

/** Firsts by the catalog's prices; remembers what it has worked out, so it lives as long as the routes it is made for. */
export function createFirsts(catalog: Catalog, meaningOf: (model: string) => Meaning): Firsts {
  const firsts = new Map<string, RouteTarget | undefined>()
  const costs = new Map<RouteTarget, number | undefined>()

  function firstOf({ target, name }: Entry, depth = 0): RouteTarget | undefined {
    if (target || firsts.has(name) || depth > MAX_DEPTH) return target ?? firsts.get(name)
    firsts.set(name, undefined) // for whoever comes here again in a circle
    const meaning = meaningOf(name)
    const first = meaning && 'strategy' in meaning ? firstOfGroup(meaning, depth + 1) : meaning?.[0]?.target
    firsts.set(name, first)
    return first
  }

  function firstOfGroup({ strategy, label, entries }: Group, depth: number): RouteTarget | undefined {
    const costOf = (entry: Entry) => priceOf(firstOf(entry, depth))
    for (const entry of orderOf(strategy)(entries, { ...still, label, costOf })) {
      const first = firstOf(entry, depth)
      if (first) return first
    }
    return undefined
  }

  function priceOf(target: RouteTarget | undefined): number | undefined {
    if (!target) return undefined
    if (!costs.has(target)) costs.set(target, priceIn(catalog, target))
    return costs.get(target)
  }

  return { firstOf: (entry) => firstOf(entry), costOf: (entry) => priceOf(firstOf(entry)) }
}

/** Nothing is known, and chance as it falls out for the first as listed. */
const still: Omit<Inputs, 'label' | 'costOf'> = {
  random: () => 0,
  turn: 0,
  session: '',
  pin: undefined,
  latencyOf: () => 0,
  loadOf: () => 0,
}

function priceIn(catalog: Catalog, target: RouteTarget): number | undefined {
  const price = catalogModelOf(catalog, target)?.price
  return price?.input === undefined || price.output === undefined ? undefined : price.input + price.output
}
