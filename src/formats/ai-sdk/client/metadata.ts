import { isObject } from '../../../lib/json.ts'
import type { Fields } from '../../canonical/fields.ts'
import type { CacheMark, TextPart } from '../../canonical/parts.ts'
import { type OpaqueState, readSealed, sealState } from '../../canonical/state.ts'
import type { Warnings } from '../../canonical/warnings.ts'
import type { WireMetadata } from '../wire.ts'

/*
 * The AI SDK returns the `providerMetadata` of a part with the part, as its `providerOptions`. State of any vendor is sealed there under the
 * gateway's name. The names of AI SDK's own providers are read as well, so that a conversation that began with one of them can go on.
 */

/** The state of a part for a client. */
export const wireState = (state: OpaqueState | undefined): WireMetadata =>
  state ? { providerMetadata: { signalbox: { state: sealState(state) } } } : {}

interface Told extends Pick<TextPart, 'phase'> {
  state?: OpaqueState | undefined
}

/** The state of a text for a client, and its phase (a comment, or the answer), which OpenAI wants back with the text. */
export function textMetadata({ state, phase }: Told): WireMetadata {
  if (!phase) return wireState(state)
  return { providerMetadata: { signalbox: { ...(state && { state: sealState(state) }), phase } } }
}

/** The phase that a client returns with a text. */
export function parsePhase(part: Fields): TextPart['phase'] {
  const { signalbox, openai } = part.object('providerOptions') ?? {}
  const phases = [signalbox, openai].map((options) => (isObject(options) ? options.phase : undefined))
  return (['commentary', 'final_answer'] as const).find((phase) => phases.includes(phase))
}

/** The state that a client returns with a part. Other options of the part are ignored. */
export function parseState(part: Fields): OpaqueState | undefined {
  const options = part.fields('providerOptions')
  const text = (provider: string, name: string) => {
    const value = options?.object(provider)?.[name]
    return typeof value === 'string' && value !== '' ? value : undefined
  }
  const sealed = text('signalbox', 'state')
  if (sealed !== undefined) return readSealed(sealed)
  const signature = text('anthropic', 'signature')
  if (signature !== undefined) return bare('anthropic-messages', 'signature', signature)
  const redacted = text('anthropic', 'redactedData')
  if (redacted !== undefined) return bare('anthropic-messages', 'redacted', redacted)
  const thought =
    text('google', 'thoughtSignature') ?? text('googleVertex', 'thoughtSignature') ?? text('vertex', 'thoughtSignature')
  if (thought !== undefined) return bare('gemini', 'thought-signature', thought)
  const encrypted = text('openai', 'reasoningEncryptedContent')
  if (encrypted === undefined) return undefined
  const id = text('openai', 'itemId')
  return { ...bare('openai-responses', 'encrypted', encrypted), ...(id !== undefined && { id }) }
}

/** State that a provider of the AI SDK has passed on unsealed, from an unknown account. */
const bare = (format: OpaqueState['origin']['format'], kind: OpaqueState['kind'], data: string): OpaqueState => ({
  origin: { format, account: '' },
  kind,
  data,
})

/** `providerOptions.anthropic.cacheControl` of a message, a part or a tool, or `openai.promptCacheBreakpoint`. */
export function parseMark(fields: Fields, warnings: Warnings): CacheMark | undefined {
  const options = fields.fields('providerOptions')
  return (
    markIn(options?.fields('anthropic'), warnings) ??
    markAt(options?.fields('openai')?.fields('promptCacheBreakpoint'), warnings)
  )
}

/** The mark among the options of Anthropic. */
export const markIn = (anthropic: Fields | undefined, warnings: Warnings): CacheMark | undefined =>
  markAt(anthropic?.fields('cacheControl') ?? anthropic?.fields('cache_control'), warnings)

function markAt(mark: Fields | undefined, warnings: Warnings): CacheMark | undefined {
  if (!mark) return undefined
  const ttl = mark.wordOrDrop('ttl', ['5m', '30m', '1h', '12h'])
  const cache: CacheMark = ttl ? { ttl } : {}
  warnings.place(cache, mark.at)
  return cache
}
