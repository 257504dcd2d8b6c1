import { AnswerWith } from '../lib/answer-with.ts'
import { decodeUtf8Lenient } from '../lib/bytes.ts'
import type { UpstreamAnswer } from '../lib/exchange.ts'
import { tryParseJson } from '../lib/json.ts'
import type { OpenedUpstream } from '../upstream/open.ts'
import type { AttemptResult, Expected } from './attempt.ts'
import type { NotCommitted } from './commit.ts'
import { noJson, peek, withoutEvents, withoutObject } from './mislabelled.ts'
import { receiveStream } from './receive-stream.ts'
import { objectIn, readAnswer } from './receive-whole.ts'
import { embedded } from './refused.ts'
import { gatherEvents } from './unasked-events.ts'

/** Reads what by its content type is a stream, for which nobody has asked. Rejects as its body does, and when it is too large. */
export async function receiveUnasked(head: UpstreamAnswer, expected: Expected): Promise<AttemptResult> {
  const { isEvents, body } = await peek(head.body)
  const answer = new AnswerWith(head, body)
  return isEvents && expected.operation === 'generate' ? gather(answer, expected) : receiveObject(answer, expected)
}

/** Reads what by its content type is no stream, where one was asked for. Rejects in the same way. */
export async function receiveMislabelled(
  head: UpstreamAnswer,
  expected: Expected,
  pending: OpenedUpstream,
): Promise<AttemptResult> {
  const { format, limits } = expected
  pending.setTotal(limits.totalTimeoutMs)
  const { isEvents, body } = await peek(head.body, format)
  const answer = new AnswerWith(head, body)
  if (!isEvents) return receiveObject(answer, expected)
  pending.setTotal(limits.headersTimeoutMs)
  return receiveEvents(answer, expected, pending)
}

/** What a stream that is none may be: an answer under a wrong content type, or a failure. */
export async function receiveUncommitted(
  { unread, ...error }: NotCommitted,
  head: UpstreamAnswer,
  expected: Expected,
  pending: OpenedUpstream,
): Promise<AttemptResult> {
  const found = unread && withoutEvents(unread, expected)
  if (!found) return embedded(error, head, expected)
  const answer = new AnswerWith(head, found.body)
  return found.isEvents ? receiveEvents(answer, expected, pending) : receiveObject(answer, expected)
}

/** What a whole answer may be that is no JSON object: one in an array, events, or a failure. */
export async function receiveNoObject(
  bytes: Uint8Array,
  head: UpstreamAnswer,
  expected: Expected,
): Promise<AttemptResult> {
  const text = decodeUtf8Lenient(bytes)
  const found = withoutObject(bytes, tryParseJson(text), expected)
  if (!found) return { kind: 'failure', failure: noJson(text) }
  const answer = new AnswerWith(head, found.body)
  return found.isEvents ? gather(answer, expected) : receiveObject(answer, expected)
}

async function receiveObject(head: UpstreamAnswer, expected: Expected): Promise<AttemptResult> {
  const bytes = await readAnswer(head, expected)
  return objectIn(bytes, head, expected) ?? receiveNoObject(bytes, head, expected)
}

async function receiveEvents(
  head: UpstreamAnswer,
  expected: Expected,
  pending: OpenedUpstream,
): Promise<AttemptResult> {
  const received = await receiveStream(head, expected, pending)
  return 'kind' in received ? received : receiveUncommitted(received, head, expected, pending)
}

/** The whole answer in events for which nobody has asked. */
async function gather(head: UpstreamAnswer, expected: Expected): Promise<AttemptResult> {
  const gathered = await gatherEvents(head, expected)
  return 'kind' in gathered ? gathered : embedded(gathered, head, expected)
}
