import { isObject } from '../../../../lib/json.ts'
import { type Fields, readCacheBreakpoint } from '../../canonical/canonical-fields.ts'
import type { CacheBreakpoint, TextPart } from '../../canonical/canonical-parts.ts'
import { type OpaqueState, readSealedState, sealState } from '../../canonical/canonical-state.ts'
import type { Warnings } from '../../canonical/canonical-warnings.ts'
import type { WireMetadata } from '../ai-sdk-wire.ts'

/*
 * The AI SDK sends a part's `providerMetadata` back as its `providerOptions`. The gateway stores all vendors' sealed state there under its own name.
 * It also reads the names that the AI SDK's own providers use, so a conversation that began with one of them can continue.
 */

/** Writes a part's state for a client. */
export const writeState = (state: OpaqueState | undefined): WireMetadata =>
  state ? { providerMetadata: { signalbox: { state: sealState(state) } } } : {}

/** Writes a text part's state for a client, and its phase (commentary or final answer), which OpenAI expects back with the text. */
export function writeTextMetadata({
  state,
  phase,
}: Pick<TextPart, 'phase'> & { state?: OpaqueState | undefined }): WireMetadata {
  if (!phase) return writeState(state)
  return { providerMetadata: { signalbox: { ...(state && { state: sealState(state) }), phase } } }
}

/** Parses the phase that a client sends back with a text part. */
export function parsePhase(part: Fields): TextPart['phase'] {
  const { signalbox, openai } = part.object('providerOptions') ?? {}
  const requestedPhases = [signalbox, openai].map((options) => (isObject(options) ? options.phase : undefined))
  return (['commentary', 'final_answer'] as const).find((phase) => requestedPhases.includes(phase))
}

/** Parses the state that a client sends back with a part. Ignores the part's other options. */
export function parseState(part: Fields): OpaqueState | undefined {
  const options = part.fields('providerOptions')
  const readText = (provider: string, name: string) => {
    const value = options?.object(provider)?.[name]
    return typeof value === 'string' && value !== '' ? value : undefined
  }
  const sealedState = readText('signalbox', 'state')
  if (sealedState !== undefined) return readSealedState(sealedState)
  const signature = readText('anthropic', 'signature')
  if (signature !== undefined) return createUnsealedState('anthropic-messages', 'signature', signature)
  const redactedData = readText('anthropic', 'redactedData')
  if (redactedData !== undefined) return createUnsealedState('anthropic-messages', 'redacted', redactedData)
  const thoughtSignature =
    readText('google', 'thoughtSignature') ??
    readText('googleVertex', 'thoughtSignature') ??
    readText('vertex', 'thoughtSignature')
  if (thoughtSignature !== undefined) return createUnsealedState('gemini', 'thought-signature', thoughtSignature)
  const encryptedContent = readText('openai', 'reasoningEncryptedContent')
  if (encryptedContent === undefined) return undefined
  const id = readText('openai', 'itemId')
  return { ...createUnsealedState('openai-responses', 'encrypted', encryptedContent), ...(id !== undefined && { id }) }
}

/** Creates state for an unknown account from data that one of the AI SDK's own providers sent unsealed. */
const createUnsealedState = (
  format: OpaqueState['origin']['format'],
  kind: OpaqueState['kind'],
  data: string,
): OpaqueState => ({
  origin: { format, account: '' },
  kind,
  data,
})

/** Parses `providerOptions.anthropic.cacheControl` or `openai.promptCacheBreakpoint` of a message, part, or tool. */
export function parseBreakpoint(fields: Fields, warnings: Warnings): CacheBreakpoint | undefined {
  const options = fields.fields('providerOptions')
  return (
    parseAnthropicBreakpoint(options?.fields('anthropic'), warnings) ??
    readCacheBreakpoint(options?.fields('openai')?.fields('promptCacheBreakpoint'), TTLS, warnings)
  )
}

/** Parses the cache mark in Anthropic's options. */
export const parseAnthropicBreakpoint = (
  anthropic: Fields | undefined,
  warnings: Warnings,
): CacheBreakpoint | undefined =>
  readCacheBreakpoint(anthropic?.fields('cacheControl') ?? anthropic?.fields('cache_control'), TTLS, warnings)

const TTLS = ['5m', '30m', '1h', '12h'] as const
