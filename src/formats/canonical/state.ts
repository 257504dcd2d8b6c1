import { membersOf, providerFormats } from '../../types/unions.ts'
import type { ProviderFormat } from '../../types.ts'

/** The origin of opaque state. */
export interface Origin {
  format: ProviderFormat
  /** A name of provider and account, made by the caller of the translators; compared for equality only. Empty: unknown. */
  account: string
}

/** The kind of the state in the format of its origin. */
type StateKind =
  | 'signature' // Anthropic: the signature of the reasoning that has it
  | 'redacted' // Anthropic: reasoning that is completely encrypted
  | 'encrypted' // OpenAI Responses: reasoning under an item id
  | 'thought-signature' // Gemini: on any part
  | 'detail' // Chat Completions: an entry of `reasoning_details`, as JSON without its readable text
  | 'text' // Chat Completions: the readable reasoning itself (`reasoning_content`) must be sent back; `data` is empty

/** State of a model that must be sent back unchanged to its origin, and to no other provider. */
export interface OpaqueState {
  origin: Origin
  kind: StateKind
  data: string
  /** The id that the data is bound to: the origin's, or that of a tool call. */
  id?: string
}

/** May the state be sent to the provider at `target`? State without a gateway's mark may come from any account of its format. */
export function belongsTo(state: OpaqueState, target: Origin): boolean {
  const { format, account } = state.origin
  return format === target.format && (account === '' || account === target.account)
}

/**
 * State as one string for a field that a client of another format will echo: `thinking.signature`, `encrypted_content`, and so on.
 * `unsealState` reads it back.
 */
export function sealState({ origin, kind, data, id = '' }: OpaqueState): string {
  return [MARK, origin.format, kind, encodeURIComponent(origin.account), encodeURIComponent(id), data].join(':')
}

/** The state in a string that a client sent; one without the gateway's mark is of the client's own format, from an unknown account. */
export function unsealState(text: string, bare: { format: ProviderFormat; kind: StateKind; id?: string }): OpaqueState {
  return readSealed(text) ?? bareState(text, bare)
}

/** The state in a string, if the gateway has sealed it. */
export function readSealed(text: string): OpaqueState | undefined {
  if (!text.startsWith(MARK)) return undefined
  const [, format = '', kind = '', account = '', id = ''] = text.slice(MARK.length).split(':', 5)
  if (!isFormat(format) || !isKind(kind)) return undefined
  const data = text.slice([MARK, format, kind, account, id].join(':').length + 1)
  const state: OpaqueState = { origin: { format, account: decoded(account) }, kind, data }
  if (id !== '') state.id = decoded(id)
  return state
}

function bareState(data: string, { format, kind, id }: { format: ProviderFormat; kind: StateKind; id?: string }) {
  const state: OpaqueState = { origin: { format, account: '' }, kind, data }
  if (id !== undefined) state.id = id
  return state
}

/** The beginning of every sealed state; the number is the version of the seal. */
const MARK = 'signalbox-1'

/**
 * The signature of reasoning that came without one. Vendors refuse unsigned reasoning of another vendor: by this mark, a request that returns
 * it is translated even where client and provider have the same format.
 */
export const UNSIGNED = `${MARK}:unsigned`

/** The gateway's summary of a conversation, as one string for a client to give back; `readSummary` reads it. */
export const sealSummary = (text: string): string => SUMMARY + text

/** The summary in a string that a client has sent; `undefined` when the gateway has not made it. */
export const readSummary = (text: string): string | undefined =>
  text.startsWith(SUMMARY) ? text.slice(SUMMARY.length) : undefined

const SUMMARY = `${MARK}:summary:`

const formats: readonly string[] = providerFormats
const kinds: readonly string[] = membersOf<StateKind>({
  signature: true,
  redacted: true,
  encrypted: true,
  'thought-signature': true,
  detail: true,
  text: true,
})

const isFormat = (text: string): text is ProviderFormat => formats.includes(text)
const isKind = (text: string): text is StateKind => kinds.includes(text)

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return '' // the seal is damaged: treated as state of an unknown account
  }
}
