import { gatewayError } from '../../errors.ts'
import { concatBytes, decodeUtf8Lenient, encodeUtf8 } from '../../lib/bytes.ts'
import type { ByteStream, UpstreamResponse } from '../../lib/exchange.ts'
import { isObject, isTooDeepToParse, MAX_PARSED_DEPTH, tryParseJson } from '../../lib/json.ts'
import { type SseEvent, sseFraming } from '../../lib/sse.ts'
import { convertArrayToEvents } from '../../lib/sse-array.ts'
import { containsTurnEnd } from '../../protocols/formats/errors/empty-responses.ts'
import type { EmbeddedError, UpstreamFormat } from '../../protocols/formats/format.ts'
import { createContentFailure, emptyResponseFailure, type Failure } from '../codec/call-failure.ts'
import {
  type BufferedResponse,
  createTooLargeError,
  type FailedResponse,
  type ReceivedResponse,
} from '../codec/response.ts'
import { type ProviderCall, ResponseWithBody } from '../upstream/provider-call.ts'
import { loadFailureReader, readBytes, readResponse } from './read-response.ts'
import type { ReceiveOptions } from './receive.ts'
import { createObserver, receiveStream, type UncommittedStream } from './receive-stream.ts'

type ReceivedOutcome = ReceivedResponse | FailedResponse

/** Reads a response with a stream's content type to a request that didn't set `stream`. Rejects if reading its body fails, or if it is too large. */
export async function receiveUnrequestedStream(
  head: UpstreamResponse,
  options: ReceiveOptions,
): Promise<ReceivedOutcome> {
  const { isEvents, body } = await peekBody(head.body)
  const response = new ResponseWithBody(head, body)
  return isEvents && options.reader.assemblesEvents ? gatherBody(response, options) : receiveObject(response, options)
}

/** Reads a response without a stream's content type to a request that set `stream`. Rejects if reading its body fails, or if it is too large. */
export async function receiveMislabelled(
  head: UpstreamResponse,
  options: ReceiveOptions,
  call: ProviderCall,
): Promise<ReceivedOutcome> {
  const { format, limits } = options
  call.setTotalTimeout(limits.totalTimeoutMs)
  const { isEvents, body } = await peekBody(head.body, format)
  const response = new ResponseWithBody(head, body)
  if (!isEvents) return receiveObject(response, options)
  call.setTotalTimeout(limits.headersTimeoutMs)
  return receiveEvents(response, options, call)
}

/** Reads a response that contained no events: a response with a wrong content type, or a failure. */
export async function receiveUncommitted(
  { unreadChunks, ...error }: UncommittedStream,
  head: UpstreamResponse,
  options: ReceiveOptions,
  call: ProviderCall,
): Promise<ReceivedOutcome> {
  const recognized = unreadChunks && recognizeChunks(unreadChunks, options)
  if (!recognized) return (await loadFailureReader()).readEmbeddedError(error, head, options)
  const response = new ResponseWithBody(head, recognized.body)
  return recognized.isEvents ? receiveEvents(response, options, call) : receiveObject(response, options)
}

/** Reads a body that isn't a JSON object: an object in an array, events, or a failure. */
export async function receiveNonObject(
  bytes: Uint8Array,
  head: UpstreamResponse,
  options: ReceiveOptions,
): Promise<ReceivedOutcome> {
  const text = decodeUtf8Lenient(bytes)
  const recognized = recognizeBody(bytes, tryParseJson(text), options)
  if (!recognized) return { kind: 'failure', failure: createNoJsonFailure(text) }
  const response = new ResponseWithBody(head, recognized.body)
  return recognized.isEvents ? gatherBody(response, options) : receiveObject(response, options)
}

/** Reads a response that should be a JSON object. Rejects if reading its body fails, or if it is too large. */
async function receiveObject(head: UpstreamResponse, options: ReceiveOptions): Promise<ReceivedOutcome> {
  const bytes = await readBytes(head, options)
  return (await readResponse(bytes, head, options)) ?? receiveNonObject(bytes, head, options)
}

/** Reads a response that should be a stream, up to its first content. Rejects if reading the body fails. */
async function receiveEvents(
  head: UpstreamResponse,
  options: ReceiveOptions,
  call: ProviderCall,
): Promise<ReceivedOutcome> {
  const received = await receiveStream(head, options, call)
  return received.kind !== undefined ? received : receiveUncommitted(received, head, options, call)
}

/** Gathers the complete response from events that the client didn't request. */
async function gatherBody(head: UpstreamResponse, options: ReceiveOptions): Promise<ReceivedOutcome> {
  const gathered = await gatherEvents(head, options)
  return 'kind' in gathered ? gathered : (await loadFailureReader()).readEmbeddedError(gathered, head, options)
}

/** A body that was recognized by its start, regardless of its content type: events, or probably a JSON object. */
interface RecognizedBody {
  isEvents: boolean
  body: ByteStream
}

/**
 * Reads the start of a body whose content type isn't a stream's, because some servers send events anyway. With `format`, an array of chunks also
 * counts as a stream if the format has such arrays.
 */
async function peekBody(body: ByteStream, format?: UpstreamFormat): Promise<RecognizedBody> {
  const peekedChunks: Uint8Array[] = []
  let size = 0
  let firstByte: number | undefined
  while (firstByte === undefined && size < MAX_BLANK_BYTES) {
    const chunk = await body.next()
    if (!chunk) break
    peekedChunks.push(chunk)
    size += chunk.length
    firstByte = findFirstByte(chunk)
  }
  return (
    recognizeEvents(createStream(peekedChunks, body), firstByte, format) ?? {
      isEvents: false,
      body: createStream(peekedChunks, body),
    }
  )
}

/** Recognizes a stream body without events by its start. Returns `undefined` if it is neither an object nor an array. */
function recognizeChunks(chunks: readonly Uint8Array[], { format }: ReceiveOptions): RecognizedBody | undefined {
  const bytes = removeComments(concatBytes(chunks))
  const firstByte = findFirstByte(bytes)
  if (firstByte === OBJECT_START) return { isEvents: false, body: createStream([bytes]) }
  if (firstByte !== ARRAY_START) return undefined
  return recognizeEvents(createStream([bytes]), firstByte, format) ?? { isEvents: false, body: createStream([bytes]) }
}

/** Recognizes a body that isn't a JSON object: an array with a single object, or a stream. `json` is the body's value if it is JSON. */
function recognizeBody(bytes: Uint8Array, json: unknown, options: ReceiveOptions): RecognizedBody | undefined {
  const { format, reader, isStreaming } = options
  if (Array.isArray(json) && json.length === 1 && isObject(json[0])) {
    const text = decodeUtf8Lenient(bytes)
    const element = text.slice(text.indexOf('[') + 1, text.lastIndexOf(']')).trim()
    return { isEvents: false, body: createStream([encodeUtf8(element)]) }
  }
  if (isStreaming || !reader.assemblesEvents) return undefined
  const uncommentedBytes = removeComments(bytes)
  if (uncommentedBytes !== bytes && findFirstByte(uncommentedBytes) === OBJECT_START)
    return { isEvents: false, body: createStream([uncommentedBytes]) }
  return recognizeEvents(createStream([bytes]), findFirstByte(bytes), format)
}

/** Removes leading comments, which servers send to keep the connection open. */
function removeComments(bytes: Uint8Array): Uint8Array {
  if (findFirstByte(bytes) !== COMMENT_START) return bytes
  return encodeUtf8(decodeUtf8Lenient(bytes).replace(/^(?:\s*:[^\r\n]*)+/, ''))
}

/** Returns the body as events if its first byte shows that it is a stream. */
function recognizeEvents(
  body: ByteStream,
  firstByte: number | undefined,
  format?: UpstreamFormat,
): RecognizedBody | undefined {
  if (firstByte === undefined) return undefined
  if (EVENT_START_CODES.has(firstByte)) return { isEvents: true, body }
  return format?.streamsArrays && firstByte === ARRAY_START
    ? { isEvents: true, body: convertArrayToEvents(body) }
    : undefined
}

/** Returns the failure for a body that contains no JSON object. */
function createNoJsonFailure(text: string): Failure {
  if (isTooDeepToParse(text))
    return createContentFailure(`The provider returned JSON nested deeper than ${MAX_PARSED_DEPTH} levels.`)
  const isPage = text.trimStart().startsWith('<')
  const description = isPage
    ? 'a web page. Check the base URL of the connection.'
    : 'a response that is not a JSON object.'
  return createContentFailure(`The provider returned ${description}`)
}

/** Maximum leading whitespace, in bytes. A body with more is read as a complete response, which has a size limit. */
const MAX_BLANK_BYTES = 64 * 1024

const toCharCodes = (characters: string) => [...characters].map((character) => character.charCodeAt(0))

/**
 * The first letters of an event's fields and of a comment, and the first byte of a frame's length. JSON objects and web pages never start with these.
 */
const EVENT_START_CODES: ReadonlySet<number> = new Set([...toCharCodes('deir:'), 0])
const [OBJECT_START, ARRAY_START, COMMENT_START] = toCharCodes('{[:')
/** Whitespace, and the bytes of a byte order mark. */
const BLANK_CODES: ReadonlySet<number> = new Set([...toCharCodes(' \t\r\n'), 0xef, 0xbb, 0xbf])

const findFirstByte = (bytes: Uint8Array) => bytes.find((byte) => !BLANK_CODES.has(byte))

function createStream(chunks: readonly Uint8Array[], remainingBody?: ByteStream): ByteStream {
  let position = 0
  return {
    next: async () => chunks[position++] ?? remainingBody?.next(),
    cancel: (reason) => remainingBody?.cancel(reason),
  }
}

/**
 * Reads the events from a provider that streams although no stream was requested, up to the format's end mark. Nothing has reached the client yet, so
 * an error event fails the attempt. Rejects as the body does, with `UPSTREAM_CUT` if the events end prematurely, and with `UPSTREAM_INVALID` if there
 * are too many.
 */
async function gatherEvents(
  head: UpstreamResponse,
  { format, reader, limits, onEvents }: ReceiveOptions,
): Promise<BufferedResponse | FailedResponse | EmbeddedError> {
  const { framing = sseFraming } = format
  const { maxResponseBytes } = limits
  const { body } = head
  const watchStream = await reader.loadStateFactory()
  const state = watchStream()
  onEvents(state)
  const { observe, failure } = createObserver(state, { watchStream, onEvents })
  const events: SseEvent[] = []
  let size = 0
  const parser = framing((event) => {
    if (state.isClosed) return
    events.push(event)
    observe(event)
  })
  while (!failure() && !state.isClosed) {
    const chunk = await body.next()
    if (!chunk) {
      parser.end()
      break
    }
    size += chunk.length
    if (size > maxResponseBytes) throw createTooLargeError(maxResponseBytes)
    parser.push(chunk)
  }
  body.cancel() // the response is complete, although the provider may keep the connection open
  if (state.error) return state.error
  if (!state.hasEnded) {
    if (state.hasStarted) throw gatewayError('UPSTREAM_CUT', { message: CUT_MESSAGE })
    return { kind: 'failure', failure: createContentFailure(SILENT_MESSAGE) }
  }
  const response: BufferedResponse = { kind: 'whole', head, bytes: EMPTY_BYTES, json: {}, usage: state.usage, events }
  if (state.hasStarted) return response
  const text = events.map(({ event, data }) => `event: ${event}\n${data}`).join('\n')
  return { kind: 'failure', failure: emptyResponseFailure, ...(containsTurnEnd(text) && { unusedResponse: response }) }
}

const EMPTY_BYTES = new Uint8Array(0)
const CUT_MESSAGE = 'The provider ended the stream before the response was complete.'
const SILENT_MESSAGE = 'The provider ended the stream before it sent any content.'
