import type { OptionName, Traits } from '../../../traits.ts'
import type { RequestOptions } from '../request.ts'
import type { Warnings } from '../warnings.ts'

interface Target {
  traits: Traits
  carries: ReadonlySet<OptionName>
  warnings: Warnings
}

/** The options that the target takes, within its ranges. */
export function prepareOptions(options: RequestOptions, { traits, carries, warnings }: Target): RequestOptions {
  const taken: RequestOptions = { ...options }
  if (taken.candidates === 1) delete taken.candidates
  if (taken.modalities?.every((modality) => modality === 'text')) delete taken.modalities
  for (const name of namesOf(taken)) {
    if (carries.has(name) && !traits.lacks.includes(name)) continue
    if (!isUnsaid(name, taken[name])) {
      if (MEANINGFUL.has(name)) warnings.refuse(name, 'the target cannot do this.')
      warnings.dropped(name)
    }
    delete taken[name]
  }
  clamp(taken, traits, warnings)
  return taken
}

/** Does it say only what holds wherever nothing is said? Some clients send all of these. */
const isUnsaid = (name: OptionName, value: unknown): boolean =>
  typeof value === 'object' && value !== null ? Object.keys(value).length === 0 : value === UNSAID[name]

const UNSAID: { readonly [Name in OptionName]?: RequestOptions[Name] } = {
  frequencyPenalty: 0,
  parallelToolCalls: true,
  presencePenalty: 0,
  serviceTier: 'auto',
  store: false,
  temperature: 1,
  topP: 1,
  verbosity: 'medium',
}

/** Without these the answer would be another one than was asked for. */
const MEANINGFUL: ReadonlySet<OptionName> = new Set<OptionName>(['candidates', 'modalities', 'speech', 'moderation'])

function clamp(options: RequestOptions, traits: Traits, warnings: Warnings) {
  const { temperature, stop, maxOutputTokens } = options
  if (temperature !== undefined && temperature > traits.maxTemperature) {
    options.temperature = traits.maxTemperature
    warnings.changed('temperature', 'clamped')
  }
  if (stop && stop.length > traits.maxStopSequences) {
    options.stop = stop.slice(0, traits.maxStopSequences)
    warnings.changed('stop', 'clamped')
  }
  if (maxOutputTokens === undefined) return
  const limit = Math.max(traits.minOutputTokens, Math.min(maxOutputTokens, traits.maxOutputTokens ?? maxOutputTokens))
  if (limit === maxOutputTokens) return
  options.maxOutputTokens = limit
  warnings.changed('maxOutputTokens', 'clamped')
}

const namesOf = (options: RequestOptions) => Object.keys(options) as OptionName[] // the options have no other keys
