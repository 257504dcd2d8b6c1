import { answerTooLarge, contentFailure, emptyAnswer, type Failure } from '../../codec/failure.ts'
import type { FailedResponse, ReceivedResponse, WholeResponse } from '../../codec/response.ts'
import { gatewayError } from '../../errors.ts'
import { endsTurn } from '../../formats/errors/empty.ts'
import type { EmbeddedError, UpstreamFormat } from '../../formats/format.ts'
import { concatBytes, decodeUtf8Lenient, encodeUtf8 } from '../../lib/bytes.ts'
import type { ByteStream, UpstreamAnswer } from '../../lib/exchange.ts'
import { isObject, isUnparsablyDeep, MAX_PARSED_DEPTH, tryParseJson } from '../../lib/json.ts'
import { type SseEvent, sseFraming } from '../../lib/sse.ts'
import { arrayEvents } from '../../lib/sse-array.ts'
import { AnswerWithBody, type ProviderCall } from '../../upstream/provider-call.ts'
import { readEmbeddedError } from './read-failure.ts'
import type { Expected } from './receive.ts'
import { type NotCommitted, objectIn, readBytes, receiveStream } from './received.ts'

type Received = ReceivedResponse | FailedResponse

/** Reads a response to a request without `stream` whose content type is that of a stream. Rejects as its body does, and if it is too large. */
export async function receiveUnasked(head: UpstreamAnswer, expected: Expected): Promise<Received> {
  const { isEvents, body } = await peek(head.body)
  const answer = new AnswerWithBody(head, body)
  return isEvents && expected.answers.gathersEvents ? gather(answer, expected) : receiveObject(answer, expected)
}

/** Reads a response to a request with `stream` whose content type is not that of a stream. Rejects in the same way. */
export async function receiveMislabelled(
  head: UpstreamAnswer,
  expected: Expected,
  call: ProviderCall,
): Promise<Received> {
  const { format, limits } = expected
  call.setTotalTimeout(limits.totalTimeoutMs)
  const { isEvents, body } = await peek(head.body, format)
  const answer = new AnswerWithBody(head, body)
  if (!isEvents) return receiveObject(answer, expected)
  call.setTotalTimeout(limits.headersTimeoutMs)
  return receiveEvents(answer, expected, call)
}

/** Reads a response that contained no events: an answer with a wrong content type, or a failure. */
async function receiveUncommitted(
  { unread, ...error }: NotCommitted,
  head: UpstreamAnswer,
  expected: Expected,
  call: ProviderCall,
): Promise<Received> {
  const found = unread && withoutEvents(unread, expected)
  if (!found) return readEmbeddedError(error, head, expected)
  const answer = new AnswerWithBody(head, found.body)
  return found.isEvents ? receiveEvents(answer, expected, call) : receiveObject(answer, expected)
}

/** Reads a body that is not a JSON object: an object in an array, events, or a failure. */
async function receiveNoObject(bytes: Uint8Array, head: UpstreamAnswer, expected: Expected): Promise<Received> {
  const text = decodeUtf8Lenient(bytes)
  const found = withoutObject(bytes, tryParseJson(text), expected)
  if (!found) return { kind: 'failure', failure: noJson(text) }
  const answer = new AnswerWithBody(head, found.body)
  return found.isEvents ? gather(answer, expected) : receiveObject(answer, expected)
}

/** Reads a response that should be a JSON object. Rejects as its body does, and if it is too large. */
export async function receiveObject(head: UpstreamAnswer, expected: Expected): Promise<Received> {
  const bytes = await readBytes(head, expected)
  return objectIn(bytes, head, expected) ?? receiveNoObject(bytes, head, expected)
}

/** Reads a response that should be a stream, to its first content. Rejects as its body does. */
export async function receiveEvents(head: UpstreamAnswer, expected: Expected, call: ProviderCall): Promise<Received> {
  const received = await receiveStream(head, expected, call)
  return received.kind !== undefined ? received : receiveUncommitted(received, head, expected, call)
}

/** The whole answer in events that the request did not ask for. */
async function gather(head: UpstreamAnswer, expected: Expected): Promise<Received> {
  const gathered = await gatherEvents(head, expected)
  return 'kind' in gathered ? gathered : readEmbeddedError(gathered, head, expected)
}

/** A body by its beginning, whatever its content type is: events, or probably a JSON object. */
interface Recognised {
  isEvents: boolean
  body: ByteStream
}

/**
 * Reads a body that by its content type is no stream up to its first character: some servers send events all the same. With `format`, an
 * array of chunks is a stream as well, where the format has such.
 */
async function peek(body: ByteStream, format?: UpstreamFormat): Promise<Recognised> {
  const seen: Uint8Array[] = []
  let size = 0
  let first: number | undefined
  while (first === undefined && size < MAX_BLANKS) {
    const chunk = await body.next()
    if (!chunk) break
    seen.push(chunk)
    size += chunk.length
    first = firstIn(chunk)
  }
  return asEvents(following(seen, body), first, format) ?? { isEvents: false, body: following(seen, body) }
}

/** The body of a stream without events, recognised by its beginning; `undefined` if that is neither an object nor an array. */
function withoutEvents(chunks: readonly Uint8Array[], { format }: Expected): Recognised | undefined {
  const bytes = withoutComments(concatBytes(chunks))
  const first = firstIn(bytes)
  if (first === OBJECT_START) return { isEvents: false, body: following([bytes]) }
  if (first !== ARRAY_START) return undefined
  return asEvents(following([bytes]), first, format) ?? { isEvents: false, body: following([bytes]) }
}

/** A body that is not a JSON object (`json`: its value, if it is JSON), recognised as the only object of an array or as a stream. */
function withoutObject(bytes: Uint8Array, json: unknown, expected: Expected): Recognised | undefined {
  const { format, answers, stream } = expected
  if (Array.isArray(json) && json.length === 1 && isObject(json[0])) {
    const text = decodeUtf8Lenient(bytes)
    const element = text.slice(text.indexOf('[') + 1, text.lastIndexOf(']')).trim()
    return { isEvents: false, body: following([encodeUtf8(element)]) }
  }
  if (stream || !answers.gathersEvents) return undefined
  const bare = withoutComments(bytes)
  if (bare !== bytes && firstIn(bare) === OBJECT_START) return { isEvents: false, body: following([bare]) }
  return asEvents(following([bytes]), firstIn(bytes), format)
}

/** The bytes without the comments at the beginning, which servers send to keep the connection open. */
function withoutComments(bytes: Uint8Array): Uint8Array {
  if (firstIn(bytes) !== COMMENT_START) return bytes
  return encodeUtf8(decodeUtf8Lenient(bytes).replace(/^(?:\s*:[^\r\n]*)+/, ''))
}

/** The body as events, if its first byte shows that it is a stream. */
function asEvents(body: ByteStream, first: number | undefined, format?: UpstreamFormat): Recognised | undefined {
  if (first === undefined) return undefined
  if (EVENT_STARTS.has(first)) return { isEvents: true, body }
  return format?.streamsArrays && first === ARRAY_START ? { isEvents: true, body: arrayEvents(body) } : undefined
}

/** The failure of a body that contains no JSON object. */
function noJson(text: string): Failure {
  if (isUnparsablyDeep(text))
    return contentFailure(`The provider sent JSON that nests deeper than ${MAX_PARSED_DEPTH} levels.`)
  const isPage = text.trimStart().startsWith('<')
  const what = isPage
    ? 'a page instead of an answer. Check the base URL of the connection.'
    : 'an answer that is no JSON object.'
  return contentFailure(`The provider sent ${what}`)
}

/** In bytes: a body with more white space at its beginning is read as a whole answer, whose size is limited. */
const MAX_BLANKS = 64 * 1024

const codesOf = (characters: string) => [...characters].map((character) => character.charCodeAt(0))

/**
 * The first letters of an event's fields and of a comment, and the first byte of a frame's length; neither JSON objects nor pages begin so.
 */
const EVENT_STARTS: ReadonlySet<number> = new Set([...codesOf('deir:'), 0])
const [OBJECT_START, ARRAY_START, COMMENT_START] = codesOf('{[:')
/** With the bytes of a byte order mark. */
const BLANKS: ReadonlySet<number> = new Set([...codesOf(' \t\r\n'), 0xef, 0xbb, 0xbf])

const firstIn = (bytes: Uint8Array) => bytes.find((byte) => !BLANKS.has(byte))

function following(seen: readonly Uint8Array[], rest?: ByteStream): ByteStream {
  let at = 0
  return {
    next: async () => seen[at++] ?? rest?.next(),
    cancel: (reason) => rest?.cancel(reason),
  }
}

/**
 * Reads the events of a provider that streams although no stream was asked for, up to the format's end mark. As nothing of them has
 * reached the client, an error among them is one of the attempt. Rejects with what the body rejects with, with `UPSTREAM_CUT` when they end
 * too early, and with `UPSTREAM_INVALID` when there are too many.
 */
async function gatherEvents(
  head: UpstreamAnswer,
  { format, answers, limits, onEvents }: Expected,
): Promise<WholeResponse | FailedResponse | EmbeddedError> {
  const { framing = sseFraming } = format
  const { maxAnswerBytes } = limits
  const { body } = head
  const state = answers.watchStream()
  onEvents(state)
  const events: SseEvent[] = []
  let size = 0
  const parser = framing((event) => {
    if (state.error || state.closed) return
    events.push(event)
    state.observe(event)
  })
  while (!state.error && !state.closed) {
    const chunk = await body.next()
    if (!chunk) {
      parser.end()
      break
    }
    size += chunk.length
    if (size > maxAnswerBytes) throw answerTooLarge(maxAnswerBytes)
    parser.push(chunk)
  }
  body.cancel() // the answer is complete, although the provider may keep the connection open
  if (state.error) return state.error
  if (!state.ended) {
    if (state.started) throw gatewayError('UPSTREAM_CUT', { message: CUT })
    return { kind: 'failure', failure: contentFailure(SILENT) }
  }
  const whole: WholeResponse = { kind: 'whole', head, bytes: NOTHING, json: {}, usage: state.usage, events }
  if (state.started) return whole
  const text = events.map(({ event, data }) => `event: ${event}\n${data}`).join('\n')
  return { kind: 'failure', failure: emptyAnswer, ...(endsTurn(text) && { empty: whole }) }
}

const NOTHING = new Uint8Array(0)
const CUT = 'The provider ended the stream before its answer was complete.'
const SILENT = 'The provider ended the stream before it had said anything.'
