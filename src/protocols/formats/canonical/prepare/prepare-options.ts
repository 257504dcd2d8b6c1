import type { OptionName, Traits } from '../../../../traits.ts'
import type { TargetContext } from '../../translator.ts'
import type { RequestOptions } from '../canonical-request.ts'
import type { Warnings } from '../canonical-warnings.ts'

/** Keeps the options that the target accepts, and clamps their values to its ranges. */
export function prepareOptions(
  options: RequestOptions,
  {
    traits,
    supportedOptions,
    warnings,
  }: Pick<TargetContext, 'traits' | 'warnings'> & { supportedOptions: ReadonlySet<OptionName> },
): RequestOptions {
  const acceptedOptions: RequestOptions = { ...options }
  if (acceptedOptions.candidates === 1) delete acceptedOptions.candidates
  if (acceptedOptions.modalities?.every((modality) => modality === 'text')) delete acceptedOptions.modalities
  const isAccepted = (name: OptionName) => supportedOptions.has(name) && !traits.lacks.includes(name)
  if (
    acceptedOptions.cacheRetention !== undefined &&
    isAccepted('cacheOptions') &&
    supportedOptions.has('cacheRetention')
  )
    resolveCacheRetention(acceptedOptions, isAccepted('cacheRetention'), warnings)
  for (const name of Object.keys(acceptedOptions) as OptionName[]) {
    // `RequestOptions` has no other keys
    if (isAccepted(name)) continue
    if (!isDefaultValue(name, acceptedOptions[name])) {
      if (ESSENTIAL_OPTIONS.has(name)) warnings.reject(name, 'the target does not support this.')
      warnings.recordDrop(name)
    }
    delete acceptedOptions[name]
  }
  clampOptions(acceptedOptions, traits, warnings)
  return acceptedOptions
}

/** Converts the cache retention to the newer `cacheOptions` if the target supports only those. OpenAI rejects requests with both. */
function resolveCacheRetention(options: RequestOptions, acceptsRetention: boolean, warnings: Warnings) {
  const { cacheOptions, cacheRetention } = options
  const { mode, ttl } = cacheOptions ?? {}
  if (acceptsRetention && (mode ?? ttl) === undefined) return
  delete options.cacheRetention
  if (acceptsRetention || ttl !== undefined) return // the newer option takes precedence
  options.cacheOptions = { ...cacheOptions, ttl: cacheRetention === '24h' ? '12h' : '30m' }
  warnings.recordChange('cacheRetention', 'replaced')
}

/** Returns whether this is the option's default value. Some clients send all defaults. */
const isDefaultValue = (name: OptionName, value: unknown): boolean =>
  typeof value === 'object' && value !== null ? Object.keys(value).length === 0 : value === OPTION_DEFAULTS[name]

const OPTION_DEFAULTS: { readonly [Name in OptionName]?: RequestOptions[Name] } = {
  frequencyPenalty: 0,
  parallelToolCalls: true,
  presencePenalty: 0,
  serviceTier: 'auto',
  store: false,
  temperature: 1,
  topP: 1,
  verbosity: 'medium',
}

/** Options that determine what the response contains. They are rejected rather than dropped. */
const ESSENTIAL_OPTIONS: ReadonlySet<OptionName> = new Set<OptionName>([
  'candidates',
  'modalities',
  'speech',
  'moderation',
])

function clampOptions(options: RequestOptions, traits: Traits, warnings: Warnings) {
  const { temperature, stop, maxOutputTokens } = options
  if (temperature !== undefined && temperature > traits.maxTemperature) {
    options.temperature = traits.maxTemperature
    warnings.recordChange('temperature', 'clamped')
  }
  if (stop && stop.length > traits.maxStopSequences) {
    options.stop = stop.slice(0, traits.maxStopSequences)
    warnings.recordChange('stop', 'clamped')
  }
  if (maxOutputTokens === undefined) return
  const clampedTokens = Math.max(
    traits.minOutputTokens,
    Math.min(maxOutputTokens, traits.maxOutputTokens ?? maxOutputTokens),
  )
  if (clampedTokens === maxOutputTokens) return
  options.maxOutputTokens = clampedTokens
  warnings.recordChange('maxOutputTokens', 'clamped')
}
