import { catalogModelOf } from '../providers/catalog-model.ts'
import type { Catalog } from '../types.ts'
import type { Entry, Group, Route, RouteTarget } from './group.ts'
import type { Inputs } from './strategies/order.ts'
import { orderOf } from './strategies/strategies.ts'

/** What a model name stands for once its aliases are followed. */
export type Meaning = Group | readonly Route[] | undefined

/** Combos that are nested deeper than this have no known price. */
const MAX_DEPTH = 100

/** The target that represents an entry when it is priced or measured. Takes no turn, and is not random. */
export interface Firsts {
  /** The first target of the entry; of a combo with a random or changing order, the first as listed. */
  firstOf(entry: Entry): RouteTarget | undefined
  /** Input plus output price of that target in US dollars per million tokens; `undefined` when one of them is unknown. */
  costOf(entry: Entry): number | undefined
}

/** Makes the look-up. It caches, so it must not outlive the routes it is made for. */
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

/** Inputs with no knowledge, and a random number that leaves the first entry first. */
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
