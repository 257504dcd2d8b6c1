import type { Traits } from '../../traits.ts'
import type { Catalog, ProviderFormat } from '../../types.ts'
import { getDefinition } from './provider-names.ts'
import { anthropic } from './traits/anthropic-traits.ts'
import { bedrock } from './traits/bedrock-traits.ts'
import { applyDifference, type TargetDifference } from './traits/difference.ts'
import { google } from './traits/google-traits.ts'
import { hosts } from './traits/host-traits.ts'
import { compatibleProviders } from './traits/openai-compatible-traits.ts'
import { openai } from './traits/openai-traits.ts'
import { vendors } from './traits/vendor-traits.ts'

/** The differences, from general to specific. Later rows override earlier ones. */
const differences: readonly TargetDifference[] = [
  ...compatibleProviders,
  ...openai,
  ...anthropic,
  ...google,
  ...bedrock,
  ...vendors,
  ...hosts,
]

/** Returns a target's traits: its format's, with vendor and model differences applied. */
export function getTraits(
  formatTraits: Traits,
  { provider, model, format }: { provider: string; model: string; format: ProviderFormat },
  catalog: Catalog,
): Traits {
  const name = stripHostNames(model)
  const matches = ({ formats, providers, models }: TargetDifference) =>
    formats?.test(format) !== false && providers?.test(provider) !== false && models?.test(name) !== false
  const traits = differences.filter(matches).reduce(applyDifference, formatTraits)
  const catalogModel = getDefinition(catalog, provider)?.models?.find(({ id }) => id === model)
  return catalogModel?.maxOutputTokens === undefined
    ? traits
    : { ...traits, maxOutputTokens: catalogModel.maxOutputTokens }
}

/** Removes host prefixes and suffixes, as in `anthropic/claude-opus-4.8:free`, `us.anthropic.claude-…`, and `accounts/fireworks/models/…`. */
const stripHostNames = (model: string): string =>
  model
    .toLowerCase()
    .replace(/^.*\//, '')
    .replace(/^(?:[a-z-]+\.)+/, '')
