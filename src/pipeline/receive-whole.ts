import type { EmbeddedError, UpstreamFormat } from '../formats/format.ts'
import type { Awaitable } from '../lib/awaitable.ts'
import { decodeUtf8Lenient, readAll } from '../lib/bytes.ts'
import type { UpstreamAnswer } from '../lib/exchange.ts'
import { isObject, tryParseJson } from '../lib/json.ts'
import type { AttemptResult, Expected, WholeAnswer } from './attempt.ts'
import { answerTooLarge, emptyAnswer } from './failure.ts'

/** Reads an answer to which no stream belongs, whatever the provider makes of that. Rejects as its body does, and when it is too large. */
export function receiveWhole(head: UpstreamAnswer, expected: Expected): Promise<AttemptResult> {
  return saysEvents(head) ? receiveUnasked(head, expected) : receiveObject(head, expected)
}

/** Is it by its content type a stream? A small JSON answer, which can be read at once, is none. */
const saysEvents = ({ body, header }: UpstreamAnswer): boolean =>
  !body.whole && /event-?stream/.test(header('content-type') ?? '')

/** Reads what by its content type is a stream, for which nobody has asked. */
async function receiveUnasked(head: UpstreamAnswer, expected: Expected): Promise<AttemptResult> {
  const { peek } = await import('./mislabelled.ts')
  const { isEvents, body } = await peek(head.body)
  return (isEvents && expected.operation === 'generate' ? receiveEvents : receiveObject)({ ...head, body }, expected)
}

async function receiveEvents(head: UpstreamAnswer, expected: Expected): Promise<AttemptResult> {
  const { gatherEvents } = await import('./unasked-events.ts')
  const gathered = await gatherEvents(head, expected)
  if ('kind' in gathered) return gathered
  return embeddedIn(gathered, head, expected)
}

async function embeddedIn(error: EmbeddedError, head: UpstreamAnswer, expected: Expected): Promise<AttemptResult> {
  const { embedded } = await import('./refused.ts')
  return embedded(error, head, expected)
}

/** Reads an answer that is a JSON object, or should be one. */
export function receiveObject(head: UpstreamAnswer, expected: Expected): Promise<AttemptResult> {
  const { maxAnswerBytes } = expected.limits
  const reading = readAll(head.body, maxAnswerBytes, () => answerTooLarge(maxAnswerBytes))
  return reading.then((bytes) => resultOf(bytes, head, expected))
}

function resultOf(bytes: Uint8Array, head: UpstreamAnswer, expected: Expected): Awaitable<AttemptResult> {
  const { format, operation } = expected
  const text = decodeUtf8Lenient(bytes)
  const answer = tryParseJson(text)
  if (!isObject(answer)) return noObject({ bytes, text, answer }, head, expected)
  const error = format.errorIn(answer)
  if (error) return embeddedIn(error, head, expected)
  const isCount = operation === 'count-tokens'
  if (!isCount && !format.isAnswer(answer)) return { kind: 'failure', failure: emptyAnswer }
  const whole: WholeAnswer = { kind: 'whole', head, bytes, json: answer, usage: format.usageOf(answer) }
  return isCount || SAYS_TEXT.test(text) ? whole : unlessBlank(whole, format)
}

async function noObject(
  { bytes, text, answer }: { bytes: Uint8Array; text: string; answer: unknown },
  head: UpstreamAnswer,
  expected: Expected,
): Promise<AttemptResult> {
  const { withoutObject, noJson } = await import('./mislabelled.ts')
  const found = withoutObject(bytes, answer, expected)
  if (!found) return { kind: 'failure', failure: noJson(text) }
  return (found.isEvents ? receiveEvents : receiveObject)({ ...head, body: found.body }, expected)
}

/** Does the answer contain a non-empty text, in any format's fields? Most do, which saves the closer look. */
const SAYS_TEXT = /"(?:content|text)"\s*:\s*"(?!")/

async function unlessBlank(whole: WholeAnswer, format: UpstreamFormat): Promise<AttemptResult> {
  const { isBlank } = await format.loadFailures()
  return isBlank(whole.json) ? { kind: 'failure', failure: emptyAnswer, blank: whole } : whole
}
