import { decodeUtf8Lenient } from '../lib/bytes.ts'
import type { UpstreamAnswer } from '../lib/exchange.ts'
import { tryParseJson } from '../lib/json.ts'
import type { FailedAttempt } from './attempt.ts'

/** The failure without the credentials of its call, should the provider have quoted one: in its message, its body or a header. */
export function redact({ failure, head, ...rest }: FailedAttempt, secrets: readonly string[]): FailedAttempt {
  const quotes = (text: string) => secrets.some((secret) => text.includes(secret))
  const { body, ...told } = failure
  const isQuoting = quotes(told.message) || (body !== undefined && isQuotedIn(decodeUtf8Lenient(body), quotes))
  const clean = isQuoting ? { ...told, message: redacted(told.message, secrets) } : failure
  return { ...rest, failure: clean, ...(head && { head: withoutQuotes(head, quotes) }) }
}

/** The text with nothing of the secrets in it. */
export const redacted = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((rest, secret) => rest.replaceAll(secret, '[credential]'), text)

/** Also where JSON spells it in another way, as with `\/`. */
const isQuotedIn = (text: string, quotes: (text: string) => boolean) =>
  quotes(text) || (text.includes('\\') && quotes(JSON.stringify(tryParseJson(text) ?? '')))

const withoutQuotes = (head: UpstreamAnswer, quotes: (text: string) => boolean): UpstreamAnswer => ({
  ...head,
  headers: () => Array.from(head.headers()).filter(([, value]) => !quotes(value)),
})
