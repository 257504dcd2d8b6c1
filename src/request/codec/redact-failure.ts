import { decodeUtf8Lenient, encodeUtf8 } from '../../lib/bytes.ts'
import { redactCredentialShapes } from '../../lib/credential-shapes.ts'
import { redactEncoded } from '../../lib/encoded-texts.ts'
import type { UpstreamResponse } from '../../lib/exchange.ts'
import { tryParseJson, tryParseShallow } from '../../lib/json.ts'
import type { Failure } from './call-failure.ts'

/**
 * Removes credentials that the provider may have quoted from a failure's message, body, and headers: known credentials, and strings that look like
 * one. The gateway's own messages get the provider's name.
 */
export function redactFailure<F extends { failure: Failure; head?: UpstreamResponse }>(
  failed: F,
  { provider, secrets }: { provider: string; secrets: readonly string[] },
): F {
  const { failure, head } = failed
  const { body, ...otherFields } = failure
  const message = failure.isQuoted ? failure.message : nameProvider(failure.message, provider)
  const redactedFailure = { ...otherFields, message: maskSecrets(message, secrets) }
  const redactedBody = body && redactBody(body, secrets)
  return {
    ...failed,
    failure: redactedBody ? { ...redactedFailure, body: redactedBody } : redactedFailure,
    ...(head && { head: redactHeaders(head, secrets) }),
  }
}

const nameProvider = (message: string, provider: string) =>
  message.replace(/^The provider\b/, () => `The provider "${provider}"`)

/** Replaces each secret with `[credential]`. */
export const redactSecrets = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((redactedText, secret) => redactedText.replaceAll(secret, '[credential]'), text)

/**
 * Like `redactSecrets`, but for error messages: also replaces strings that look like a credential, and credentials or parts of them in base64,
 * hexadecimal, or percent-encoding.
 */
export const maskSecrets = (text: string, secrets: readonly string[]): string =>
  redactEncoded(redactCredentialShapes(redactSecrets(text, secrets)), (decoded) => containsSecret(decoded, secrets))

const containsSecret = (text: string, secrets: readonly string[]) =>
  secrets.some((secret) => text.includes(secret)) || redactCredentialShapes(text) !== text

/**
 * Returns the body without quoted credentials: the same bytes if there are none, or `undefined` if the redacted body isn't JSON. JSON can escape a
 * credential, as with `\/`, so bodies with escapes are parsed and serialized again.
 */
function redactBody(body: Uint8Array, secrets: readonly string[]): Uint8Array | undefined {
  const text = decodeUtf8Lenient(body)
  const unescaped = text.includes('\\') ? JSON.stringify(tryParseShallow(text) ?? null) : text
  const redactedText = maskSecrets(unescaped, secrets)
  if (redactedText === unescaped) return body
  return tryParseJson(redactedText) === undefined ? undefined : encodeUtf8(redactedText)
}

const redactHeaders = (head: UpstreamResponse, secrets: readonly string[]): UpstreamResponse => ({
  status: head.status,
  body: head.body,
  header: (name) => head.header(name),
  headers: () => Array.from(head.headers()).filter(([, value]) => maskSecrets(value, secrets) === value),
})
