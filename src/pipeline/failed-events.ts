import type { EmbeddedError, ErrorFacts, ErrorTelling, Format, StreamPlace, StreamWatch } from '../formats/format.ts'
import { readVendorError } from '../formats/read-vendor-error.ts'
import { bareJsonIn } from '../lib/bare-json.ts'
import { concatBytes, decodeUtf8Lenient, encodeUtf8 } from '../lib/bytes.ts'
import { splitEvents } from '../lib/split-events.ts'
import { createSseParser } from '../lib/sse.ts'
import { censored } from './redact.ts'

/** The end of a stream in which the provider reports an error. */
export interface FailedEvents {
  error: EmbeddedError
  /** The bytes for the client: all up to the error, and nothing after it that could look like a normal end. */
  bytes: Uint8Array
}

interface Terms {
  format: Format
  secrets: readonly string[]
  /** The state of the stream before these events. */
  before(): StreamWatch
}

/**
 * What the client gets of these whole events when one of them reports an error; `undefined` when all are passed on unchanged. The
 * provider's own error event stays; where clients of the format would not recognise it as an error, the format's error event follows. That
 * stands in the place of an error that is no event at all, but bare JSON.
 */
export async function failedEvents(
  whole: Uint8Array,
  { format, secrets, before }: Terms,
): Promise<FailedEvents | undefined> {
  if (!SPEAKS_OF_ERRORS.test(decodeUtf8Lenient(whole))) return undefined
  const errors = await format.loadErrors()
  const kept: Uint8Array[] = []
  let error: EmbeddedError | undefined
  let isTold = false
  let isEnded = false // within these
  let place: StreamPlace = {}
  for (const bytes of splitEvents(whole)) {
    const said = saidIn(bytes, format, errors)
    if (!error) isEnded ||= said.ended && !said.error
    error ??= said.error
    isTold ||= said.isTold
    place = { ...place, ...said.place }
    if (said.error && said.isBare) continue
    if (!error || said.error) kept.push(said.error ? withoutQuotes(bytes, secrets) : bytes)
  }
  if (!error || (isTold && (isEnded || before().ended))) return undefined
  if (!isTold) {
    const told = errors.event(factsOf(error), { ...before().place, ...place })
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
  const bare = bareJsonIn(text)
  if (bare !== undefined) {
    watch.observe({ event: undefined, data: bare })
    return { error: watch.error, ended: false, place: watch.place, isTold, isBare: true }
  }
  const parser = createSseParser((event) => {
    watch.observe(event)
    isTold = isErrorEvent(event)
  })
  parser.push(text)
  parser.end()
  return { error: watch.error, ended: watch.ended, place: watch.place, isTold, isBare: false }
}

/** Unchanged, unless it quotes a credential. */
function withoutQuotes(bytes: Uint8Array, secrets: readonly string[]): Uint8Array {
  const text = decodeUtf8Lenient(bytes)
  const clean = censored(text, secrets)
  return clean === text ? bytes : encodeUtf8(clean)
}

function factsOf({ status, message, error }: EmbeddedError): ErrorFacts {
  const { code = 'UPSTREAM_FAILED' } = readVendorError({ error })
  return { status, code, message }
}
