import type { EmbeddedError, UpstreamFormat } from '../formats/format.ts'
import type { Awaitable } from '../lib/awaitable.ts'
import { decodeUtf8Lenient, readAll } from '../lib/bytes.ts'
import type { UpstreamAnswer } from '../lib/exchange.ts'
import { isObject, tryParseJson } from '../lib/json.ts'
import type { AttemptResult, Expected, WholeAnswer } from './attempt.ts'
import { answerTooLarge, emptyAnswer } from './failure.ts'

/** Is the answer by its content type a stream? */
export const saysEvents = (head: UpstreamAnswer): boolean => /event-?stream/.test(head.header('content-type') ?? '')

/** The bytes of an answer. Rejects as its body does, and when it is too large. */
export const readAnswer = ({ body }: UpstreamAnswer, { limits }: Pick<Expected, 'limits'>): Promise<Uint8Array> =>
  readAll(body, limits.maxAnswerBytes, answerTooLarge)

/** The result that an answer stands for whose bytes are a JSON object; `undefined` when they are none. */
export function objectIn(
  bytes: Uint8Array,
  head: UpstreamAnswer,
  expected: Expected,
): Awaitable<AttemptResult> | undefined {
  const { format, operation } = expected
  const text = decodeUtf8Lenient(bytes)
  const answer = tryParseJson(text)
  if (!isObject(answer)) return undefined
  const error = format.errorIn(answer)
  if (error) return embeddedIn(error, head, expected)
  const isCount = operation === 'count-tokens'
  if (!isCount && !format.isAnswer(answer)) return { kind: 'failure', failure: emptyAnswer }
  const whole: WholeAnswer = { kind: 'whole', head, bytes, json: answer, usage: format.usageOf(answer) }
  return isCount || SAYS_TEXT.test(text) ? whole : unlessBlank(whole, format)
}

async function embeddedIn(error: EmbeddedError, head: UpstreamAnswer, expected: Expected): Promise<AttemptResult> {
  const { embedded } = await import('./refused.ts')
  return embedded(error, head, expected)
}

/** Does the answer contain a non-empty text, in any format's fields? Most do, which saves the closer look. */
const SAYS_TEXT = /"(?:content|text)"\s*:\s*"(?!")/

async function unlessBlank(whole: WholeAnswer, format: UpstreamFormat): Promise<AttemptResult> {
  const { isBlank } = await format.loadFailures()
  return isBlank(whole.json) ? { kind: 'failure', failure: emptyAnswer, blank: whole } : whole
}
