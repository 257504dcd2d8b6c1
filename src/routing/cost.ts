import { definitionOf } from '../providers/names.ts'
import type { Target } from '../providers/target.ts'
import type { Catalog, Combo } from '../types.ts'
import { modelOf } from './strategies/entry.ts'
import { orderOf } from './strategies/strategies.ts'

type Priced = Pick<Target, 'provider' | 'model'>

/** What a model name stands for once its aliases are followed. */
export type Meaning<T extends Priced = Priced> = Combo | readonly T[] | undefined

/** Combos stand in each other; what is deeper than this has no known price. */
const MAX_DEPTH = 100

/**
 * What a model name costs by the catalog: the input plus output price of the first target it leads to, `undefined` when one of the two
 * is not known. Takes no turn and leaves nothing to chance: a combo that chooses anew each time counts with its first choice as listed.
 */
export function createCosts(
  catalog: Catalog,
  meaningOf: (model: string) => Meaning,
): (model: string) => number | undefined {
  const firsts = new Map<string, Priced | undefined>()
  const costs = new Map<string, number | undefined>()

  function firstOf(model: string, depth: number): Priced | undefined {
    if (firsts.has(model) || depth > MAX_DEPTH) return firsts.get(model)
    firsts.set(model, undefined) // for whoever comes here again in a circle
    const meaning = meaningOf(model)
    const first = meaning && 'models' in meaning ? firstOfCombo(meaning, depth + 1) : meaning?.[0]
    firsts.set(model, first)
    return first
  }

  function firstOfCombo({ models, strategy }: Combo, depth: number): Priced | undefined {
    const costOf = (model: string) => priceOf(catalog, firstOf(model, depth))
    for (const entry of orderOf(strategy)(models, { random: () => 0, turn: () => 0, costOf })) {
      const first = firstOf(modelOf(entry), depth)
      if (first) return first
    }
    return undefined
  }

  return (model) => {
    if (!costs.has(model)) costs.set(model, priceOf(catalog, firstOf(model, 0)))
    return costs.get(model)
  }
}

function priceOf(catalog: Catalog, target: Priced | undefined): number | undefined {
  const price = target && definitionOf(catalog, target.provider)?.models?.find(({ id }) => id === target.model)?.price
  return price?.input === undefined || price.output === undefined ? undefined : price.input + price.output
}
