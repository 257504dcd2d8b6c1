import { decodeUtf8Lenient, encodeUtf8 } from '../lib/bytes.ts'
import { withoutCredentialShapes } from '../lib/credential-shapes.ts'
import type { UpstreamAnswer } from '../lib/exchange.ts'
import { tryParseJson } from '../lib/json.ts'
import type { FailedAttempt } from './attempt.ts'

/**
 * The failure with the name of its provider, where the gateway speaks, and without credentials, should the provider have quoted one in its message, its body or a header: not the known ones, nor
 * anything that looks like one.
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

/** There are many providers to look after. */
const naming = (message: string, provider: string) =>
  message.replace(/^The provider\b/, () => `The provider "${provider}"`)

/** The text with nothing of the secrets in it. */
export const redacted = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((rest, secret) => rest.replaceAll(secret, '[credential]'), text)

/** The same for what was said of a failure, where nothing else can be meant that looks like a credential. */
export const censored = (text: string, secrets: readonly string[]): string =>
  withoutCredentialShapes(redacted(text, secrets))

/** The body as it came where it quotes nothing. JSON may spell a credential in another way, as with `\/`; then it is written anew. */
function cleanBody(body: Uint8Array, secrets: readonly string[]): Uint8Array | undefined {
  const text = decodeUtf8Lenient(body)
  const plain = text.includes('\\') ? JSON.stringify(tryParseJson(text) ?? null) : text
  const clean = censored(plain, secrets)
  if (clean === plain) return body
  return tryParseJson(clean) === undefined ? undefined : encodeUtf8(clean)
}

const withoutQuotes = (head: UpstreamAnswer, secrets: readonly string[]): UpstreamAnswer => ({
  ...head,
  headers: () => Array.from(head.headers()).filter(([, value]) => censored(value, secrets) === value),
})
