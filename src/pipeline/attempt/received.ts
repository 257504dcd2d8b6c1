import { answerTooLarge, bareAnswer, emptyAnswer, type Failure } from '../../codec/failure.ts'
import type { Committed, FailedResponse, ReceivedResponse, WholeResponse } from '../../codec/response.ts'
import { endsTurn, hasText } from '../../formats/errors/empty.ts'
import type { AnswerReader, EmbeddedError } from '../../formats/format.ts'
import { concatBytes, decodeUtf8Lenient, readAll, toBase64 } from '../../lib/bytes.ts'
import { type ByteStream, NO_BYTES, type UpstreamAnswer } from '../../lib/exchange.ts'
import { isObject, type JsonObject, tryParseJson } from '../../lib/json.ts'
import { eventTooLong, MAX_EVENT, sseFraming } from '../../lib/sse.ts'
import type { ProviderCall } from '../../upstream/provider-call.ts'
import { readEmbeddedError } from './read-failure.ts'
import type { Expected } from './receive.ts'

/** The bytes of a response. Rejects as its body does, and when it is too large. */
export const readBytes = ({ body }: UpstreamAnswer, { limits }: Expected): Promise<Uint8Array> =>
  readAll(body, limits.maxAnswerBytes, answerTooLarge)

/** The response in bytes that hold a JSON object; `undefined` if they hold none. */
export function objectIn(
  bytes: Uint8Array,
  head: UpstreamAnswer,
  expected: Expected,
): WholeResponse | FailedResponse | undefined {
  const { answers } = expected
  const type = head.header('content-type') ?? ''
  const isMedia = answers.bytesAs !== undefined && !/json|html|text|xml|^$/i.test(type)
  const text = isMedia ? JSON.stringify({ [answers.bytesAs ?? '']: toBase64(bytes), type }) : decodeUtf8Lenient(bytes)
  const json = answers.skim?.(text) ?? textIn(text, head, answers) ?? objectOf(tryParseJson(text), answers)
  if (!json) return undefined
  const error = answers.errorIn(json)
  const usage = answers.usageOf(json, (name) => head.header(name))
  if (error) return { ...readEmbeddedError(error, head, expected), usage }
  if (!answers.isAnswer(json)) return { kind: 'failure', failure: noAnswer(json, answers), usage }
  const whole: WholeResponse = { kind: 'whole', head, bytes, json, usage }
  const isEmpty = answers.isEmpty !== undefined && !hasText(text) && answers.isEmpty(json)
  return isEmpty ? { kind: 'failure', failure: emptyAnswer, empty: whole } : whole
}

/** A plain text as an object, where answers may be such. */
function textIn(text: string, head: UpstreamAnswer, { textAs }: AnswerReader): JsonObject | undefined {
  if (textAs === undefined || /json|html/i.test(head.header('content-type') ?? 'json')) return undefined
  return { [textAs]: text }
}

/** The object that a parsed body is, or holds where answers may be arrays. */
function objectOf(json: unknown, { arraysAs }: AnswerReader): JsonObject | undefined {
  if (isObject(json)) return json
  return arraysAs !== undefined && Array.isArray(json) ? { [arraysAs]: json } : undefined
}

/** The failure of a JSON object that is no answer. */
function noAnswer(json: JsonObject, { needs }: AnswerReader): Failure {
  const lacking = needs?.(json)
  return lacking === undefined ? emptyAnswer : bareAnswer(lacking)
}

/** Why a stream is not an answer. */
export interface NotCommitted extends EmbeddedError {
  kind?: undefined
  /** The whole body, if it has ended without an event. */
  unread?: Uint8Array[]
}

/** Reads a stream up to its first content, or to what shows that it is not a stream. Rejects as its body does. */
export async function receiveStream(
  head: UpstreamAnswer,
  expected: Expected,
  call: ProviderCall,
): Promise<ReceivedResponse | FailedResponse | NotCommitted> {
  const committed = await commitStream(head.body, expected)
  if ('state' in committed && committed.state.started) {
    call.setTotalTimeout(Number.POSITIVE_INFINITY)
    return { kind: 'stream', head, body: head.body, committed }
  }
  call.cancel(committed)
  return 'state' in committed ? emptyStream(head, committed) : committed
}

/**
 * Holds a stream back until its first content, or its end. Before that point an error event or an early end is a failure of the attempt, so
 * that the next target can be tried; after it they go to the client. Rejects with what `body` rejects with, and with `UPSTREAM_INVALID` when
 * there is no content within 16 MiB.
 */
async function commitStream(
  body: ByteStream,
  { format, answers, onEvents }: Expected,
): Promise<Committed | NotCommitted> {
  const state = answers.watchStream()
  onEvents(state)
  const head: Uint8Array[] = []
  let size = 0
  const { framing = sseFraming } = format
  let isUnread = true
  const parser = framing((event) => {
    isUnread = false
    if (!state.error && !state.started) state.observe(event) // after an error the stream cannot become an answer
  })
  for (let chunk = await body.next(); chunk; chunk = await body.next()) {
    head.push(chunk)
    size += chunk.length
    if (size > MAX_EVENT) throw eventTooLong()
    parser.push(chunk)
    if (state.error && !state.started) return state.error
    if (state.started) return { head, state }
    if (state.closed) break
  }
  parser.end() // half an event, which is not JSON, is dropped
  if (state.error && !state.started) return state.error
  if (state.ended) return { head, state }
  const message = `The provider ended the stream before ${state.started ? 'its answer was complete' : 'it had said anything'}.`
  return { class: 'content', status: 502, message, ...(isUnread && { unread: head }) }
}

/** The failure of a stream that has ended without content. It keeps the stream if the model has ended its turn normally. */
function emptyStream(head: UpstreamAnswer, committed: Committed): FailedResponse {
  const failed: FailedResponse = { kind: 'failure', failure: emptyAnswer }
  if (!endsTurn(decodeUtf8Lenient(concatBytes(committed.head)))) return failed
  return { ...failed, empty: { kind: 'stream', head, body: NO_BYTES, committed } }
}
