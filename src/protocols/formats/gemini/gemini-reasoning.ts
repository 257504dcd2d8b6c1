import { encodeUtf8, toBase64 } from '../../../lib/bytes.ts'
import { getEntry } from '../../../lib/maps.ts'
import type { Effort, ReasoningTraits } from '../../../traits.ts'
import type { Fields } from '../canonical/canonical-fields.ts'
import type { ReasoningOptions } from '../canonical/canonical-request.ts'
import { type OpaqueState, readSealedState, sealState } from '../canonical/canonical-state.ts'
import { omitUndefined } from '../canonical/canonical-values.ts'
import { decodeBase64Text } from './gemini-fields.ts'
import type { WireLevel, WireThinking } from './gemini-wire.ts'

/** Parses a client's `thinkingConfig`: a token budget, where 0 is off and -1 lets the model choose, or one of four levels. */
export function parseThinking(config: Fields): ReasoningOptions | undefined {
  const budget = config.number('thinkingBudget')
  const level = config.string('thinkingLevel')?.toUpperCase()
  const includeThoughts = config.boolean('includeThoughts')
  const effort = level === undefined ? undefined : getEntry(effortByLevel, level)
  const reasoning = omitUndefined<ReasoningOptions>({
    effort: budget === 0 ? 'none' : effort,
    budget: budget === undefined || budget === 0 ? undefined : budget < 0 ? 'auto' : budget,
    show: includeThoughts === undefined ? undefined : includeThoughts ? 'summary' : 'none',
  })
  config.dropUnread()
  return Object.keys(reasoning).length > 0 ? reasoning : undefined
}

const effortByLevel: Readonly<Record<string, Effort>> = {
  MINIMAL: 'minimal',
  LOW: 'low',
  MEDIUM: 'medium',
  HIGH: 'high',
}

/** Writes `thinkingConfig` for a provider: a level or a budget, because Google rejects both together. */
export function writeThinking(
  { effort, budget, show }: ReasoningOptions,
  { control }: ReasoningTraits,
): WireThinking | undefined {
  if (control === 'none') return undefined
  const config = omitUndefined<WireThinking>({
    includeThoughts: show === undefined ? undefined : show !== 'none',
    thinkingLevel: control === 'level' && effort ? levelByEffort[effort] : undefined,
    thinkingBudget: control === 'level' ? undefined : toBudget(effort, budget),
  })
  return Object.keys(config).length > 0 ? config : undefined
}

function toBudget(effort: Effort | undefined, budget: ReasoningOptions['budget']): number | undefined {
  if (effort === 'none') return 0
  return budget === 'auto' ? -1 : budget
}

const levelByEffort: Readonly<Record<Effort, WireLevel>> = {
  none: 'MINIMAL',
  minimal: 'MINIMAL',
  low: 'LOW',
  medium: 'MEDIUM',
  high: 'HIGH',
  xhigh: 'HIGH',
  max: 'HIGH',
}

/*
 * `thoughtSignature` may be on any part. It is a `bytes` field. Clients decode and re-encode it, some of them in the other base64 alphabet, so sealed
 * state is encoded in base64.
 */

/** Parses a client's signature: state that the gateway sealed, or a Google signature from an unknown account. */
export function parseSignature(signature: string | undefined): OpaqueState | undefined {
  if (!signature || PLACEHOLDER_SIGNATURES.has(signature)) return undefined
  const sealedState = decodeBase64Text(signature) // Google's own signatures aren't UTF-8
  const state = sealedState === undefined ? undefined : readSealedState(sealedState)
  return state ?? { origin: { format: 'gemini', account: '' }, kind: 'thought-signature', data: signature }
}

/** Writes any vendor's state as a signature for a client. */
export const writeSignature = (state: OpaqueState): string => toBase64(encodeUtf8(sealState(state)))

/** Google's documented placeholder signature for a tool call by another model. Newer models reject a call without a signature. */
export const SKIP_SIGNATURE = 'skip_thought_signature_validator'

const PLACEHOLDER_SIGNATURES: ReadonlySet<string> = new Set([SKIP_SIGNATURE, toBase64(encodeUtf8(SKIP_SIGNATURE))])
