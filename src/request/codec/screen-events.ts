import { concatBytes, decodeUtf8Lenient, encodeUtf8 } from '../../lib/bytes.ts'
import { tryParseShallow } from '../../lib/json.ts'
import { createSseParser, findBareJson, formatSseEvent, type SseEvent, splitEvents } from '../../lib/sse.ts'
import { findHiddenReason, readMessage } from '../../protocols/formats/errors/read-error.ts'
import type {
  EmbeddedError,
  ErrorDetails,
  Format,
  FormatErrors,
  ResponseReader,
  StreamPosition,
  StreamState,
  StreamStateFactory,
} from '../../protocols/formats/format.ts'
import { maskSecrets } from './redact-failure.ts'
import { mayBeForeign } from './stream-errors.ts'

/** Complete events for the client. */
interface ScreenedEvents {
  /** The provider's error, which ends the stream. */
  error?: EmbeddedError
  /** Whether the provider indicates that nothing follows. */
  hasEnded?: boolean
  /** Everything up to the error, and nothing after it that could look like a normal end. */
  bytes: Uint8Array
}

interface ErrorEventOptions {
  /** The client's format. */
  format: Format
  reader: ResponseReader
  /** The credentials to remove from the error. */
  secrets(): Promise<readonly string[]>
  /** The stream's state before these events. */
  getStateBefore(): StreamState
}

/**
 * Returns the events for the client. Redacts credentials that are quoted in events outside the response. If an event reports an error, the stream
 * ends. The provider's own error event is forwarded once. If the format's clients wouldn't recognize it as an error, it is followed by the provider's
 * next event that they do recognize, or else by the format's error event. The format's event also replaces an error that is bare JSON instead of an
 * event.
 */
export async function screenEvents(
  allBytes: Uint8Array,
  { format, reader, secrets: knownSecrets, getStateBefore }: ErrorEventOptions,
): Promise<ScreenedEvents> {
  if (!MENTIONS_ERROR.test(decodeUtf8Lenient(allBytes)) && !mayBeForeign(allBytes, reader)) return { bytes: allBytes }
  const errors = await format.loadErrors()
  const watchStream = await reader.loadStateFactory()
  const secrets = await knownSecrets()
  const passedEvents: Uint8Array[] = []
  const allEvents: Uint8Array[] = []
  let error: EmbeddedError | undefined
  let countBeforeVague = 0 // the number of events before an error without a reason
  let isReported = false // whether the error was reported in a form that clients recognize
  let isEnded = false // whether the response ended within these events
  let hasEnded = false
  let forwardedError: SseEvent | undefined
  let position: StreamPosition = {}
  const events = splitEvents(allBytes)
  const remainder = allBytes.subarray(events.reduce((size, { length }) => size + length, 0))
  for (const bytes of remainder.length > 0 ? [...events, remainder] : events) {
    const parsedEvent = parseEvent(bytes, errors, watchStream)
    const isResponse =
      !parsedEvent.error && (parsedEvent.event !== undefined || parsedEvent.isBare) && reader.isResponseEvent(bytes)
    const redactedBytes = isResponse ? bytes : redactQuotes(bytes, parsedEvent.event, secrets)
    allEvents.push(redactedBytes)
    hasEnded ||= parsedEvent.ended && !parsedEvent.error
    if (!error) isEnded = hasEnded
    if (error?.isVague && parsedEvent.error && !parsedEvent.error.isVague) {
      passedEvents.length = countBeforeVague // the format's own event follows and contains the reason
      isReported = false
      forwardedError = undefined
      error = undefined
      parsedEvent.isHiding ||= !parsedEvent.isRecognized
    }
    const isFirst = !error
    if (isFirst) countBeforeVague = passedEvents.length
    error ??= parsedEvent.error
    position = { ...position, ...parsedEvent.position }
    if (!error) passedEvents.push(redactedBytes)
    else if (
      parsedEvent.error &&
      !parsedEvent.isBare &&
      !isReported &&
      !parsedEvent.isHiding &&
      (isFirst || parsedEvent.isRecognized)
    ) {
      passedEvents.push(redactedBytes)
      forwardedError = parsedEvent.event
    }
    isReported ||= parsedEvent.isRecognized && !parsedEvent.isHiding
  }
  if (!error || (isReported && (isEnded || getStateBefore().hasEnded))) return { bytes: concatBytes(allEvents) }
  if (!isReported) {
    const event = errors.createEvent(getErrorFacts(error, errors), {
      ...getStateBefore().position,
      ...position,
      forwardedError,
    })
    passedEvents.push(encodeUtf8(maskSecrets(event, secrets)))
  }
  return { error, hasEnded, bytes: concatBytes(passedEvents) }
}

/** Matches an `error` field that isn't null, because some formats have a null `error` in every event. */
const MENTIONS_ERROR = /"error"(?!\s*:\s*null)|event: ?error|response\.(?:failed|cancelled)/

function parseEvent(bytes: Uint8Array, errors: FormatErrors, watchStream: StreamStateFactory) {
  const state = watchStream()
  const text = decodeUtf8Lenient(bytes)
  let isRecognized = false
  let event: SseEvent | undefined
  const bareJson = findBareJson(text)
  if (bareJson !== undefined) {
    state.observe({ event: undefined, data: bareJson })
    return {
      error: state.error,
      ended: false,
      position: state.position,
      isRecognized,
      isBare: true,
      isHiding: false,
      event,
    }
  }
  const parser = createSseParser((sseEvent) => {
    event = sseEvent
    state.observe(sseEvent)
    isRecognized = errors.isErrorEvent(sseEvent)
  })
  parser.push(text)
  parser.end()
  const { error, hasEnded, position } = state
  const isHiding = error !== undefined && findHiddenReason(error.error, errors.isOverflowError) !== undefined
  return { error, ended: hasEnded, position, isRecognized, isBare: false, isHiding, event }
}

/**
 * Returns the event, unchanged unless it quotes a credential. JSON can escape a credential, as with `\/`, so data with escapes is parsed and
 * serialized again, or dropped if it isn't JSON.
 */
function redactQuotes(bytes: Uint8Array, event: SseEvent | undefined, secrets: readonly string[]): Uint8Array {
  const text = decodeUtf8Lenient(bytes)
  const redactedText = maskSecrets(text, secrets)
  if (redactedText.includes('\\')) {
    const value = event && tryParseShallow(event.data)
    const unescaped = value === undefined ? unescapeJson(redactedText) : JSON.stringify(value)
    const data = maskSecrets(unescaped, secrets)
    if (data !== unescaped)
      return event && value !== undefined ? encodeUtf8(formatSseEvent({ event: event.event, data })) : NOTHING
  }
  return redactedText === text ? bytes : encodeUtf8(redactedText)
}

/** Reverts the JSON escapes that can represent a character of a key. */
const unescapeJson = (text: string): string =>
  text.replace(/\\(?:u([0-9a-f]{4})|(["/\\]))/gi, (_, code?: string, character?: string) =>
    code === undefined ? (character ?? '') : String.fromCharCode(Number.parseInt(code, 16)),
  )

function getErrorFacts({ status, message, error }: EmbeddedError, { isOverflowError }: FormatErrors): ErrorDetails {
  const { code = 'UPSTREAM_FAILED' } = readMessage({ error })
  const isOverflow = findHiddenReason(error, isOverflowError)?.isOverflow
  return { status, code: isOverflow ? 'CONTEXT_OVERFLOW' : code, message }
}

const NOTHING = new Uint8Array(0)
