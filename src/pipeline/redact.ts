import { decodeUtf8Lenient, encodeUtf8 } from '../lib/bytes.ts'
import { withoutCredentialShapes } from '../lib/credential-shapes.ts'
import type { UpstreamAnswer } from '../lib/exchange.ts'
import { tryParseJson, tryParseShallow } from '../lib/json.ts'
import type { FailedAttempt } from './attempt.ts'

/**
 * The failure without credentials in its message, body and headers, should the provider have quoted one: neither the known ones nor what
 * looks like one. The gateway's own messages get the name of the provider.
 */
export function redact(
  { failure, head, ...rest }: FailedAttempt,
  { provider, secrets }: { provider: string; secrets: readonly string[] },
): FailedAttempt {
  const { body, ...told } = failure
  const message = failure.isQuoted ? failure.message : naming(failure.message, provider)
  const clean = { ...told, message: censored(message, secrets) }
  const said = body && cleanBody(body, secrets)
  return {
    ...rest,
    failure: said ? { ...clean, body: said } : clean,
    ...(head && { head: withoutQuotes(head, secrets) }),
  }
}

/** Names the provider, of which an operator may have many. */
const naming = (message: string, provider: string) =>
  message.replace(/^The provider\b/, () => `The provider "${provider}"`)

/** The text with `[credential]` in place of each secret. */
export const redacted = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((rest, secret) => rest.replaceAll(secret, '[credential]'), text)

/** The same for texts of failures, where also everything that looks like a credential is replaced. */
export const censored = (text: string, secrets: readonly string[]): string =>
  withoutCredentialShapes(redacted(text, secrets))

/**
 * The body, unchanged when it quotes nothing. JSON can spell a credential differently, as with `\/`; then it is parsed and written anew.
 */
function cleanBody(body: Uint8Array, secrets: readonly string[]): Uint8Array | undefined {
  const text = decodeUtf8Lenient(body)
  const plain = text.includes('\\') ? JSON.stringify(tryParseShallow(text) ?? null) : text
  const clean = censored(plain, secrets)
  if (clean === plain) return body
  return tryParseJson(clean) === undefined ? undefined : encodeUtf8(clean)
}

const withoutQuotes = (head: UpstreamAnswer, secrets: readonly string[]): UpstreamAnswer => ({
  status: head.status,
  body: head.body,
  header: (name) => head.header(name),
  headers: () => Array.from(head.headers()).filter(([, value]) => censored(value, secrets) === value),
})
