import type { OptionName, ReasoningTraits, Traits } from '../../traits.ts'

/** What some targets differ in. `lacks` adds to what is lacking, `takes` takes away from it; every other field replaces the one before. */
export type Difference = Partial<Omit<Traits, 'reasoning'>> & {
  takes?: readonly OptionName[]
  reasoning?: Partial<ReasoningTraits>
}

/** Which targets differ. What is absent is any. */
export type TargetDifference = Difference & {
  /** Wire formats. */
  formats?: RegExp
  /** Whole provider ids. */
  providers?: RegExp
  /** Model names in lower case, without what hosts put before them: `claude-opus-4-8`, `gpt-5.4-mini`. */
  models?: RegExp
}

/** The format's traits, as the target differs in them. */
export function differing(base: Traits, row: TargetDifference): Traits {
  const { formats: _, providers: __, models: ___, takes = [], lacks = [], reasoning, ...fields } = row
  return {
    ...base,
    ...fields,
    lacks: [...base.lacks, ...lacks].filter((name) => !takes.includes(name)),
    reasoning: { ...base.reasoning, ...reasoning },
  }
}
