import { concatBytes, decodeUtf8Lenient, readAll, toBase64 } from '../../lib/bytes.ts'
import { type ByteStream, NO_BYTES, type UpstreamResponse } from '../../lib/exchange.ts'
import { isObject, type JsonObject, tryParseJson } from '../../lib/json.ts'
import { once } from '../../lib/promises.ts'
import { createEventTooLongError, MAX_EVENT_SIZE, sseFraming } from '../../lib/sse.ts'
import { MAX_EVENTS_BEFORE_REASON } from '../../protocols/formats/canonical/late-reason.ts'
import { addCharges } from '../../protocols/formats/canonical/reported-cost.ts'
import { updateUsage } from '../../protocols/formats/canonical/reported-usage.ts'
import { endsTurn, hasText } from '../../protocols/formats/errors/empty-responses.ts'
import { loadErrorReaders } from '../../protocols/formats/errors/load-error-readers.ts'
import type { AnswerReader, EmbeddedError, StreamState, TokenUsage } from '../../protocols/formats/format.ts'
import {
  createMissingContentFailure,
  createTooLargeError,
  emptyResponseFailure,
  type Failure,
} from '../codec/call-failure.ts'
import type { FailedResponse, ReceivedResponse, StreamStart, WholeResponse } from '../codec/response.ts'
import type { ProviderCall } from '../upstream/provider-call.ts'
import type { ResponseTerms } from './receive.ts'

/** Reads the bytes of a response. Rejects as its body does, and if it is too large. */
export const readBytes = ({ body }: UpstreamResponse, { limits }: ResponseTerms): Promise<Uint8Array> =>
  readAll(body, limits.maxResponseBytes, createTooLargeError)

/** Loads the readers of failures, when the first one is needed. */
export const loadFailureReader = once(async () => {
  const [failures] = await Promise.all([import('./read-failure.ts'), loadErrorReaders()])
  return failures
})

/** Returns the response, or its failure, if its bytes contain a JSON object; otherwise `undefined`. */
export function readResponse(
  bytes: Uint8Array,
  head: UpstreamResponse,
  expected: ResponseTerms,
): WholeResponse | FailedResponse | Promise<FailedResponse> | undefined {
  const { answers } = expected
  const type = head.header('content-type') ?? ''
  const isMedia = answers.bytesField !== undefined && !/json|html|text|xml|^$/i.test(type)
  const text = isMedia
    ? JSON.stringify({ [answers.bytesField ?? '']: toBase64(bytes), type })
    : decodeUtf8Lenient(bytes)
  const json = answers.skim?.(text) ?? wrapText(text, head, answers) ?? toObject(tryParseJson(text), answers)
  if (!json) return undefined
  const header = (name: string) => head.header(name)
  const usage = addCharges(answers.getUsage(json, header), json, header)
  if (answers.getError(json) || !answers.isAnswer(json)) return readFailedResponse(json, head, { expected, usage })
  const whole: WholeResponse = { kind: 'whole', head, bytes, json, usage }
  const isEmpty = answers.isEmpty !== undefined && !hasText(text) && answers.isEmpty(json)
  return isEmpty ? { kind: 'failure', failure: emptyResponseFailure, empty: whole } : whole
}

/** Reads a JSON object that is an error, or isn't a response. */
async function readFailedResponse(
  json: JsonObject,
  head: UpstreamResponse,
  { expected, usage }: { expected: ResponseTerms; usage: TokenUsage | undefined },
): Promise<FailedResponse> {
  const { answers } = expected
  const { readEmbeddedError } = await loadFailureReader()
  const { readUnnamedError } = await loadErrorReaders()
  const error = readUnnamedError(json, answers.getError(json))
  if (error) return { ...(await readEmbeddedError(error, head, expected)), usage }
  return { kind: 'failure', failure: createNoAnswerFailure(json, answers), usage }
}

/** Wraps plain text in an object, for operations that return text. */
function wrapText(text: string, head: UpstreamResponse, { textField }: AnswerReader): JsonObject | undefined {
  if (textField === undefined || /json|html/i.test(head.header('content-type') ?? 'json')) return undefined
  return { [textField]: text }
}

/** Returns the object in a parsed body, or in an array if the operation may return one. */
function toObject(json: unknown, { arrayField }: AnswerReader): JsonObject | undefined {
  if (isObject(json)) return json
  return arrayField !== undefined && Array.isArray(json) ? { [arrayField]: json } : undefined
}

/** Creates the failure for a JSON object that isn't a valid response. */
function createNoAnswerFailure(json: JsonObject, { describeMissing }: AnswerReader): Failure {
  const missing = describeMissing?.(json)
  return missing === undefined ? emptyResponseFailure : createMissingContentFailure(missing)
}

/** The reason why a stream isn't a usable response. */
export interface UncommittedStream extends EmbeddedError {
  kind?: undefined
  /** The whole body, if it ended without any event. */
  unread?: Uint8Array[]
}

/** Reads a stream up to its first content, or until it turns out not to be a stream. Rejects as its body does. */
export async function receiveStream(
  head: UpstreamResponse,
  expected: ResponseTerms,
  call: ProviderCall,
): Promise<ReceivedResponse | FailedResponse | UncommittedStream> {
  const start = await commitStream(head.body, expected)
  if ('state' in start && start.state.started) {
    call.setTotalTimeout(Number.POSITIVE_INFINITY)
    return { kind: 'stream', head, body: head.body, start }
  }
  call.cancel(start)
  return 'state' in start ? createEmptyStreamFailure(head, start) : start
}

/**
 * Holds a stream back until its first content, or its end. Before that point, an error event or an early end fails the attempt, so that the next
 * target can be tried; after it, errors go to the client. Rejects as `body` does, and with `UPSTREAM_INVALID` if there is no content within 16 MiB.
 */
async function commitStream(body: ByteStream, terms: ResponseTerms): Promise<StreamStart | UncommittedStream> {
  const head: Uint8Array[] = []
  let size = 0
  let reader = createStartReader(terms)
  /** Reads the stream again if it may contain an error that couldn't be read. */
  async function readAgain(isOver: boolean) {
    await loadErrorReaders()
    reader = createStartReader(terms)
    for (const chunk of head) reader.parser.push(chunk)
    if (isOver) reader.parser.end()
  }

  for (let chunk = await body.next(); chunk; chunk = await body.next()) {
    head.push(chunk)
    size += chunk.length
    if (size > MAX_EVENT_SIZE) throw createEventTooLongError()
    reader.parser.push(chunk)
    if (isUnread(reader.state)) await readAgain(false)
    const { state } = reader
    const failed = reader.failure()
    if (failed && !state.started) return failed
    if (state.started) return { head, state }
    if (state.closed) break
  }
  reader.parser.end() // half an event, which isn't JSON, is dropped
  if (isUnread(reader.state)) await readAgain(true)
  const { state } = reader
  if (state.error && !state.started) return state.error
  if (state.ended) return { head, state }
  const message = `The provider ended the stream before ${state.started ? 'the response was complete' : 'it sent any content'}.`
  return { class: 'content', status: 502, message, ...(!reader.hasEvents && { unread: head }) }
}

const isUnread = ({ error, isUnread }: StreamState) => isUnread || error?.isUnread === true

/** Reads a stream from its beginning until it has started. */
function createStartReader({ format, answers, onEvents }: ResponseTerms) {
  const state = answers.watchStream()
  onEvents(state)
  const { observe, failure } = createObserver(state, { answers, onEvents })
  const { framing = sseFraming } = format
  const parser = framing((event) => {
    reader.hasEvents = true
    if (!state.started) observe(event)
  })
  const reader = { state, failure, parser, hasEvents: false }
  return reader
}

/**
 * Passes a stream's events to its state. Events after an error only report usage, since the stream can no longer succeed. Returns the error as
 * `failure` once no later event can give its reason.
 */
export function createObserver(
  state: StreamState,
  { answers, onEvents }: Pick<ResponseTerms, 'answers' | 'onEvents'>,
): Pick<StreamState, 'observe'> & { failure(): EmbeddedError | undefined } {
  let rest: StreamState | undefined
  let later = 0 // events after an error without a reason
  const failure = () => (state.error?.isVague && later < MAX_EVENTS_BEFORE_REASON ? undefined : state.error)
  return {
    failure,
    observe(event) {
      if (!failure()) {
        if (state.error) later++
        return state.observe(event)
      }
      rest ??= answers.watchStream()
      rest.observe(event)
      onEvents({ usage: updateUsage(state.usage, rest.usage) })
    },
  }
}

/** Returns the failure of a stream that ended without content. Keeps the stream if the model ended its turn normally. */
function createEmptyStreamFailure(head: UpstreamResponse, start: StreamStart): FailedResponse {
  const failed: FailedResponse = { kind: 'failure', failure: emptyResponseFailure }
  if (!endsTurn(decodeUtf8Lenient(concatBytes(start.head)))) return failed
  return { ...failed, empty: { kind: 'stream', head, body: NO_BYTES, start } }
}
