import type { OptionName, ReasoningTraits, Traits } from '../../../traits.ts'

/** The traits that differ for some targets. `lacks` adds unsupported options; `supports` removes them. Every other field replaces the previous value. */
export type TraitDifference = Partial<Omit<Traits, 'reasoning'>> & {
  supports?: readonly OptionName[]
  reasoning?: Partial<ReasoningTraits>
}

/** A difference and its target conditions. An absent condition matches all targets. */
export type TargetDifference = TraitDifference & {
  /** Matches wire format names. */
  formats?: RegExp
  /** Matches complete provider IDs. */
  providers?: RegExp
  /** Matches model names in lowercase, without host prefixes: `claude-opus-4-8`, `gpt-5.4-mini`. */
  models?: RegExp
}

/** Applies a difference to traits. */
export function applyDifference(base: Traits, difference: TargetDifference): Traits {
  const { formats: _, providers: __, models: ___, supports = [], lacks = [], reasoning, ...fields } = difference
  return {
    ...base,
    ...fields,
    lacks: [...base.lacks, ...lacks].filter((name) => !supports.includes(name)),
    reasoning: { ...base.reasoning, ...reasoning },
  }
}
