import { encodeUtf8, toBase64 } from '../../lib/bytes.ts'
import { entryOf } from '../../lib/maps.ts'
import type { Effort, ReasoningTraits } from '../../traits.ts'
import type { Fields } from '../canonical/fields.ts'
import type { ReasoningOptions } from '../canonical/request.ts'
import { type OpaqueState, readSealed, sealState } from '../canonical/state.ts'
import { defined } from '../canonical/values.ts'
import { textOfBase64 } from './fields.ts'
import type { WireLevel, WireThinking } from './wire.ts'

/** Parses `thinkingConfig` of a client: a budget of tokens, where 0 is off and -1 lets the model choose, or one of four levels. */
export function parseThinking(config: Fields): ReasoningOptions | undefined {
  const budget = config.number('thinkingBudget')
  const level = config.text('thinkingLevel')?.toUpperCase()
  const shown = config.flag('includeThoughts')
  const effort = level === undefined ? undefined : entryOf(efforts, level)
  const reasoning = defined<ReasoningOptions>({
    effort: budget === 0 ? 'none' : effort,
    budget: budget === undefined || budget === 0 ? undefined : budget < 0 ? 'auto' : budget,
    show: shown === undefined ? undefined : shown ? 'summary' : 'none',
  })
  config.drop()
  return Object.keys(reasoning).length > 0 ? reasoning : undefined
}

const efforts: Readonly<Record<string, Effort>> = { MINIMAL: 'minimal', LOW: 'low', MEDIUM: 'medium', HIGH: 'high' }

/** Writes `thinkingConfig` for a provider: a level or a budget, since both together are refused. */
export function writeThinking(
  { effort, budget, show }: ReasoningOptions,
  { by }: ReasoningTraits,
): WireThinking | undefined {
  if (by === 'none') return undefined
  const config = defined<WireThinking>({
    includeThoughts: show === undefined ? undefined : show !== 'none',
    thinkingLevel: by === 'level' && effort ? levels[effort] : undefined,
    thinkingBudget: by === 'level' ? undefined : tokensOf(effort, budget),
  })
  return Object.keys(config).length > 0 ? config : undefined
}

function tokensOf(effort: Effort | undefined, budget: ReasoningOptions['budget']): number | undefined {
  if (effort === 'none') return 0
  return budget === 'auto' ? -1 : budget
}

const levels: Readonly<Record<Effort, WireLevel>> = {
  none: 'MINIMAL',
  minimal: 'MINIMAL',
  low: 'LOW',
  medium: 'MEDIUM',
  high: 'HIGH',
  xhigh: 'HIGH',
  max: 'HIGH',
}

/*
 * `thoughtSignature` may be on any part. It is a field of bytes: clients decode it and encode it again, some of them in the other alphabet of
 * base64, so that sealed state is base64 of its text.
 */

/** Parses a signature that a client returns: state that the gateway has sealed, or a signature of Google from an unknown account. */
export function parseSignature(signature: string | undefined): OpaqueState | undefined {
  if (!signature || PLACEHOLDERS.has(signature)) return undefined
  const sealed = textOfBase64(signature) // Google's own signatures are not UTF-8
  const state = sealed === undefined ? undefined : readSealed(sealed)
  return state ?? { origin: { format: 'gemini', account: '' }, kind: 'thought-signature', data: signature }
}

/** Writes state of any vendor as a signature for a client. */
export const wireSignature = (state: OpaqueState): string => toBase64(encodeUtf8(sealState(state)))

/** Google's documented placeholder for a call of another model, which has no signature. Without it, newer models refuse the call. */
export const NO_SIGNATURE = 'skip_thought_signature_validator'

const PLACEHOLDERS: ReadonlySet<string> = new Set([NO_SIGNATURE, toBase64(encodeUtf8(NO_SIGNATURE))])
