import type { OptionName, ReasoningTraits, Traits } from '../../traits.ts'

/**
 * The traits in which some targets differ. `lacks` adds options to those that are lacking, `takes` removes options from them; every other
 * field replaces the value before.
 */
export type Difference = Partial<Omit<Traits, 'reasoning'>> & {
  takes?: readonly OptionName[]
  reasoning?: Partial<ReasoningTraits>
}

/** A difference, and the targets that it is for. An absent condition matches all of them. */
export type TargetDifference = Difference & {
  /** Names of wire formats. */
  formats?: RegExp
  /** Whole provider ids. */
  providers?: RegExp
  /** Model names in lower case, without what hosts put before them: `claude-opus-4-8`, `gpt-5.4-mini`. */
  models?: RegExp
}

/** The traits `base`, changed by a difference. */
export function differing(base: Traits, row: TargetDifference): Traits {
  const { formats: _, providers: __, models: ___, takes = [], lacks = [], reasoning, ...fields } = row
  return {
    ...base,
    ...fields,
    lacks: [...base.lacks, ...lacks].filter((name) => !takes.includes(name)),
    reasoning: { ...base.reasoning, ...reasoning },
  }
}
