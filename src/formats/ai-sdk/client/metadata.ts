import type { Fields } from '../../canonical/fields.ts'
import type { CacheMark } from '../../canonical/parts.ts'
import { type OpaqueState, readSealed, sealState } from '../../canonical/state.ts'
import type { Warnings } from '../../canonical/warnings.ts'
import type { WireMetadata } from '../wire.ts'

/*
 * The AI SDK returns the `providerMetadata` of a part with the part, as its `providerOptions`. State of any vendor is sealed there under the
 * gateway's name. The names of AI SDK's own providers are read as well, so that a conversation can be continued that one of them began.
 */

/** The state of a part for a client. */
export const wireState = (state: OpaqueState | undefined): WireMetadata =>
  state ? { providerMetadata: { signalbox: { state: sealState(state) } } } : {}

/** The state that a client returns with a part; the rest of the part's options is read by nobody. */
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
  const thought = text('google', 'thoughtSignature') ?? text('vertex', 'thoughtSignature')
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

/** `providerOptions.anthropic.cacheControl` of a message, a part or a tool. */
export function parseMark(fields: Fields, warnings: Warnings): CacheMark | undefined {
  const anthropic = fields.fields('providerOptions')?.fields('anthropic')
  const mark = anthropic?.fields('cacheControl') ?? anthropic?.fields('cache_control')
  if (!mark) return undefined
  const ttl = mark.wordOrDrop('ttl', ['5m', '1h'])
  const cache: CacheMark = ttl ? { ttl } : {}
  warnings.place(cache, mark.at)
  return cache
}
