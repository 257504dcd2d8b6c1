import type { Traits } from '../traits.ts'
import type { Catalog, ProviderFormat } from '../types.ts'
import { definitionOf } from './names.ts'
import { anthropic } from './traits/anthropic.ts'
import { bedrock } from './traits/bedrock.ts'
import { differing, type TargetDifference } from './traits/difference.ts'
import { followers } from './traits/followers.ts'
import { google } from './traits/google.ts'
import { hosts } from './traits/hosts.ts'
import { openai } from './traits/openai.ts'
import { vendors } from './traits/vendors.ts'

/** The differences, from general to specific: later rows override earlier ones. */
const rows: readonly TargetDifference[] = [
  ...followers,
  ...openai,
  ...anthropic,
  ...google,
  ...bedrock,
  ...vendors,
  ...hosts,
]

/** The traits of a target: those of its format, changed by the differences of its vendor and its model. */
export function traitsFor(
  base: Traits,
  { provider, model, format }: { provider: string; model: string; format: ProviderFormat },
  catalog: Catalog,
): Traits {
  const name = bareName(model)
  const isOf = ({ formats, providers, models }: TargetDifference) =>
    formats?.test(format) !== false && providers?.test(provider) !== false && models?.test(name) !== false
  const traits = rows.filter(isOf).reduce(differing, base)
  const known = definitionOf(catalog, provider)?.models?.find(({ id }) => id === model)
  return known?.maxOutputTokens === undefined ? traits : { ...traits, maxOutputTokens: known.maxOutputTokens }
}

/**
 * The model's name without what hosts add to it, as in `anthropic/claude-opus-4.8:free`, `us.anthropic.claude-…` and
 * `accounts/fireworks/models/…`.
 */
const bareName = (model: string): string =>
  model
    .toLowerCase()
    .replace(/^.*\//, '')
    .replace(/^(?:[a-z-]+\.)+/, '')
