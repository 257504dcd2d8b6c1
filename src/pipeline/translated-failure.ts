import type { Translator, UpstreamTranslator } from '../formats/translator.ts'
import { decodeUtf8Lenient, encodeUtf8 } from '../lib/bytes.ts'
import { tryParseShallow } from '../lib/json.ts'
import type { FailedAttempt } from './attempt.ts'
import { statusFor } from './failure-said.ts'

/** The failure with the provider's error in the client's format; unchanged when the provider sent no body. */
export function translatedFailure(
  attempt: FailedAttempt,
  { client, upstream, now }: { client: Translator; upstream: UpstreamTranslator; now: number },
): FailedAttempt {
  const { failure, head } = attempt
  if (!head || !failure.body) return attempt
  const text = decodeUtf8Lenient(failure.body)
  const header = (name: string) => head.header(name)
  const said = head.status < 300 ? failure.status : statusFor(head.status) // an error in a 200 stands for another status
  const error = upstream.parseError({ status: said, body: tryParseShallow(text) ?? text, header, now })
  const { status, headers, body } = client.writeError(error)
  const { upstreamStatus = said } = failure
  return {
    ...attempt,
    failure: { ...failure, status, upstreamStatus, headers, body: encodeUtf8(JSON.stringify(body)) },
  }
}
