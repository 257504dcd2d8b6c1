import { listMembers, providerFormats } from '../../../types/unions.ts'
import type { ProviderFormat } from '../../../types.ts'

export interface Origin {
  format: ProviderFormat
  /** Identifies the provider and account. The caller of the translators chooses it, and it is only compared for equality. Empty means unknown. */
  account: string
}

/** The kind of state in its origin's format. */
type StateKind =
  | 'signature' // Anthropic: the signature of a reasoning block
  | 'redacted' // Anthropic: reasoning that is completely encrypted
  | 'encrypted' // OpenAI Responses: reasoning under an item ID
  | 'thought-signature' // Gemini: on any part
  | 'detail' // Chat Completions: an entry of `reasoning_details`, as JSON without its readable text
  | 'text' // Chat Completions: the client must send back the readable reasoning itself (`reasoning_content`), so `data` is empty

/** Model state that clients must send back unchanged. Only its origin may receive it. */
export interface OpaqueState {
  origin: Origin
  kind: StateKind
  data: string
  /** The ID that the data is bound to: an ID from the origin, or the ID of a tool call. */
  id?: string
}

/**
 * Returns whether the provider at `target` may receive the state. State that the gateway didn't seal may come from any account that uses its format.
 */
export function belongsTo(state: OpaqueState, target: Origin): boolean {
  const { format, account } = state.origin
  return format === target.format && (account === '' || account === target.account)
}

/** Writes state as one string for a field that clients echo: `thinking.signature`, `encrypted_content`, and so on. `unsealState` reads it. */
export function sealState({ origin, kind, data, id = '' }: OpaqueState): string {
  return [STATE_PREFIX, origin.format, kind, encodeURIComponent(origin.account), encodeURIComponent(id), data].join(':')
}

/** Reads the state in a client's string. A string that the gateway didn't seal is state in the client's own format, from an unknown account. */
export function unsealState(
  text: string,
  unsealed: { format: ProviderFormat; kind: StateKind; id?: string },
): OpaqueState {
  return readSealedState(text) ?? createUnsealedState(text, unsealed)
}

/** Reads the state in a string if the gateway sealed it. */
export function readSealedState(text: string): OpaqueState | undefined {
  if (!text.startsWith(STATE_PREFIX)) return undefined
  const [, format = '', kind = '', account = '', id = ''] = text.slice(STATE_PREFIX.length).split(':', 5)
  if (!isProviderFormat(format) || !isStateKind(kind)) return undefined
  const data = text.slice([STATE_PREFIX, format, kind, account, id].join(':').length + 1)
  const state: OpaqueState = { origin: { format, account: decodeOrEmpty(account) }, kind, data }
  if (id !== '') state.id = decodeOrEmpty(id)
  return state
}

function createUnsealedState(
  data: string,
  { format, kind, id }: { format: ProviderFormat; kind: StateKind; id?: string },
) {
  const state: OpaqueState = { origin: { format, account: '' }, kind, data }
  if (id !== undefined) state.id = id
  return state
}

/** The prefix of all sealed state. The number is the version. */
const STATE_PREFIX = 'signalbox-1'

/**
 * The signature for reasoning that came without one. It makes the gateway translate a request even if both formats are the same, because vendors
 * reject unsigned reasoning from other vendors.
 */
export const UNSIGNED_PREFIX = `${STATE_PREFIX}:unsigned`

/** Writes the gateway's summary of a conversation as one string for clients to send back. `readSummary` reads it. */
export const sealSummary = (text: string): string => SUMMARY_PREFIX + text

/** Reads the summary in a string from a client. Returns `undefined` if the gateway didn't write it. */
export const readSummary = (text: string): string | undefined =>
  text.startsWith(SUMMARY_PREFIX) ? text.slice(SUMMARY_PREFIX.length) : undefined

const SUMMARY_PREFIX = `${STATE_PREFIX}:summary:`

const formats: readonly string[] = providerFormats
const stateKinds: readonly string[] = listMembers<StateKind>({
  signature: true,
  redacted: true,
  encrypted: true,
  'thought-signature': true,
  detail: true,
  text: true,
})

const isProviderFormat = (text: string): text is ProviderFormat => formats.includes(text)
const isStateKind = (text: string): text is StateKind => stateKinds.includes(text)

function decodeOrEmpty(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return '' // the seal is corrupt, so treat it as state from an unknown account
  }
}
