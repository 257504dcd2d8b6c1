import { encodeUtf8 } from '../../lib/bytes.ts'
import { toBase64 } from '../../lib/encoding.ts'
import { type OpaqueState, readSealed, sealState } from '../canonical/state.ts'
import { textOfBase64 } from './base64-text.ts'

/*
 * `thoughtSignature` may stand on any part. It is a field of bytes: clients decode it and encode it anew, some of them with the other
 * alphabet of base64, so that sealed state is base64 of its text.
 */

/** What a client gives back: state that the gateway has sealed, or a signature of Google's by an account that is not known. */
export function parseSignature(signature: string | undefined): OpaqueState | undefined {
  if (!signature || PLACEHOLDERS.has(signature)) return undefined
  const sealed = textOfBase64(signature) // Google's own signatures are no text
  const state = sealed === undefined ? undefined : readSealed(sealed)
  return state ?? { origin: { format: 'gemini', account: '' }, kind: 'thought-signature', data: signature }
}

/** Any state for a client to give back. */
export const wireSignature = (state: OpaqueState): string => toBase64(encodeUtf8(sealState(state)))

/** Google's documented word for a call that has no signature, since another model made it. Without one, newer models refuse the call. */
export const NO_SIGNATURE = 'skip_thought_signature_validator'

const PLACEHOLDERS: ReadonlySet<string> = new Set([NO_SIGNATURE, toBase64(encodeUtf8(NO_SIGNATURE))])
