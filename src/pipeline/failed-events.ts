import type { EmbeddedError, ErrorFacts, ErrorTelling, Format, StreamPlace, StreamWatch } from '../formats/format.ts'
import { readVendorError } from '../formats/read-vendor-error.ts'
import { bareJsonIn } from '../lib/bare-json.ts'
import { concatBytes, decodeUtf8Lenient, encodeUtf8 } from '../lib/bytes.ts'
import { tryParseShallow } from '../lib/json.ts'
import { splitEvents } from '../lib/split-events.ts'
import { createSseParser, eventText, type SseEvent } from '../lib/sse.ts'
import { censored } from './redact.ts'

/** The end of a stream in which the provider reports an error. */
export interface FailedEvents {
  error: EmbeddedError
  /** The bytes for the client: all up to the error, and nothing after it that could look like a normal end. */
  bytes: Uint8Array
}

interface Terms {
  format: Format
  /** The credentials to be removed from the error. */
  secrets(): Promise<readonly string[]>
  /** The state of the stream before these events. */
  before(): StreamWatch
}

/**
 * What the client gets of these whole events when one of them reports an error; `undefined` when all are passed on unchanged. The
 * provider's own error event stays, once; where clients of the format would not recognise it as an error, the provider's next one that they
 * do recognise follows, or else the format's error event. That stands in the place of an error that is no event at all, but bare JSON.
 */
export async function failedEvents(
  whole: Uint8Array,
  { format, secrets: known, before }: Terms,
): Promise<FailedEvents | undefined> {
  if (!SPEAKS_OF_ERRORS.test(decodeUtf8Lenient(whole))) return undefined
  const errors = await format.loadErrors()
  const secrets = await known()
  const kept: Uint8Array[] = []
  let error: EmbeddedError | undefined
  let isTold = false
  let isEnded = false // within these
  let passedError: SseEvent | undefined
  let place: StreamPlace = {}
  for (const bytes of splitEvents(whole)) {
    const said = saidIn(bytes, format, errors)
    if (!error) isEnded ||= said.ended && !said.error
    const isFirst = !error
    error ??= said.error
    place = { ...place, ...said.place }
    if (!error) kept.push(bytes)
    else if (said.error && !said.isBare && !isTold && (isFirst || said.isTold)) {
      kept.push(withoutQuotes(bytes, said.event, secrets))
      passedError = said.event
    }
    isTold ||= said.isTold
  }
  if (!error || (isTold && (isEnded || before().ended))) return undefined
  if (!isTold) {
    const told = errors.event(factsOf(error), { ...before().place, ...place, passedError })
    kept.push(encodeUtf8(censored(told, secrets)))
  }
  return { error, bytes: concatBytes(kept) }
}

/** Some formats have an `error` member in every event, mostly null. */
const SPEAKS_OF_ERRORS = /"error"(?!\s*:\s*null)|event: ?error/

function saidIn(bytes: Uint8Array, format: Format, { isErrorEvent }: ErrorTelling) {
  const watch = format.watchStream()
  const text = decodeUtf8Lenient(bytes)
  let isTold = false
  let event: SseEvent | undefined
  const bare = bareJsonIn(text)
  if (bare !== undefined) {
    watch.observe({ event: undefined, data: bare })
    return { error: watch.error, ended: false, place: watch.place, isTold, isBare: true, event }
  }
  const parser = createSseParser((found) => {
    event = found
    watch.observe(found)
    isTold = isErrorEvent(found)
  })
  parser.push(text)
  parser.end()
  return { error: watch.error, ended: watch.ended, place: watch.place, isTold, isBare: false, event }
}

/** The event, unchanged unless it quotes a credential. JSON can spell one differently, as with `\/`; then it is parsed and written anew. */
function withoutQuotes(bytes: Uint8Array, said: SseEvent | undefined, secrets: readonly string[]): Uint8Array {
  const text = decodeUtf8Lenient(bytes)
  const clean = censored(text, secrets)
  const value = said && clean.includes('\\') ? tryParseShallow(said.data) : undefined
  if (said && value !== undefined) {
    const plain = JSON.stringify(value)
    const data = censored(plain, secrets)
    if (data !== plain) return encodeUtf8(eventText({ event: said.event, data }))
  }
  return clean === text ? bytes : encodeUtf8(clean)
}

function factsOf({ status, message, error }: EmbeddedError): ErrorFacts {
  const { code = 'UPSTREAM_FAILED' } = readVendorError({ error })
  return { status, code, message }
}
