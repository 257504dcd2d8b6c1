import { toGatewayError } from '../errors.ts'
import { type CanonicalError, MALFORMED_CALL } from '../formats/canonical/errors.ts'
import type { StreamEvent } from '../formats/canonical/stream.ts'
import type { TokenUsage } from '../formats/format.ts'
import { errorOf, type StreamTranslation, translateStream } from '../formats/translate-stream.ts'
import { encodeUtf8 } from '../lib/bytes.ts'
import { settlesWithin } from '../lib/deadline.ts'
import type { ByteStream } from '../lib/exchange.ts'
import { withoutLineSeparators } from '../lib/sse.ts'
import type { Clock } from '../types.ts'
import { type StreamError, streamError } from './failure.ts'
import { lossComment } from './losses.ts'
import type { RelayedStream, StreamEnd, StreamTerms } from './relay.ts'
import type { Committed } from './response.ts'
import { censored, redacted } from './secrets.ts'
import { KEEP_ALIVE_MS } from './stream-headers.ts'
import { limitEvents } from './stream-limit.ts'

interface TranslatedTerms extends StreamTerms {
  translation: StreamTranslation
  clock: Clock
}

/**
 * Translates a committed stream into the client's format. All that one read of the provider translates to is one chunk, and no event waits
 * for a later read. A stream that breaks off, ends early or is silent for too long ends with an error event.
 */
export function relayTranslated(
  body: ByteStream,
  { head, state }: Committed,
  { translation, clock, onEnd, secrets, knownKeys, maxStreamBytes, estimates }: TranslatedTerms,
): RelayedStream {
  const limit = limitEvents(maxStreamBytes)
  let unsent = '' // whole events
  const before: string[] = [] // of them, as a single text may not be of any length
  let held: readonly Uint8Array[] = head
  let usage: TokenUsage | undefined
  let error: StreamEnd['error']
  let ended: StreamEnd['ended']
  let fault: StreamEnd['fault']
  let isOver = false // nothing more is read
  let isReported = false // the provider has ended its answer, and reported its usage if it does
  let said = 0 // in tokens
  const usageOfStart = state.usage
  let reported: Reported | undefined // the provider's error, until the client gets it
  let hasEnded = false
  let pulling: Promise<void> | undefined

  const watched: Stage = (emit) => (event) => {
    if (event.type === 'end' || event.type === 'error') usage = event.usage
    if (event.type === 'error') error = endOf(event.error)
    if (event.type === 'end') isOver = isReported = true
    if (event.type !== 'error') return emit(event)
    const send = (error: CanonicalError) => emit({ ...event, error })
    if (isOver) send(event.error)
    else reported = { error: event.error, send }
  }
  const { responseWarnings } = translation.write

  /** Counts first, as restoring holds texts back. */
  const limited: Stage = (emit) => (event) => {
    limit.count(event)
    if (event.type === 'part-delta') said += estimates.likelyTokens(event.text)
    emit(event)
  }

  function writeLosses() {
    const comment = lossComment(responseWarnings)
    if (comment) unsent += comment
  }

  const translator = translateStream(
    {
      ...translation,
      restore: between(limited, translation.restore, watched),
      write: { ...translation.write, beforeEnd: writeLosses },
    },
    (event) => {
      if (unsent.length > LARGE) {
        before.push(unsent)
        unsent = ''
      }
      unsent += event
    },
  )

  function takeRest(): string {
    const text = unsent
    unsent = ''
    return text
  }

  function take(): Uint8Array {
    const text = before.shift() ?? takeRest()
    return encodeUtf8(withoutLineSeparators(redacted(text, secrets)))
  }

  function end(cancelled: boolean) {
    if (hasEnded) return
    hasEnded = true
    const streamed = isReported && usage ? undefined : said
    onEnd({ usage: usage ?? usageOfStart, streamed, error, ended, cancelled, fault })
  }

  function fail(thrown: unknown) {
    if (isOver) return
    body.cancel(thrown)
    const known = toGatewayError(thrown)
    if (known.code === 'INTERNAL') fault = thrown
    ended = known
    isOver = true
    if (reported) reported.send(errorOf(known))
    else translator.fail(errorOf(known))
  }

  /** Ends the stream with the provider's error, without the credentials that it may quote. */
  async function sendReported({ error, send }: Reported) {
    const quotable = [...secrets, ...(await knownKeys())]
    if (isOver) return // the stream was cancelled meanwhile, or has failed in another way
    isOver = true
    const { message, code, param, ...rest } = error
    const clean: CanonicalError = { ...rest, message: censored(message, quotable) }
    // A code that quotes a credential names no kind of error, and clients would search for it in vain.
    if (code !== undefined && censored(code, quotable) === code) clean.code = code
    if (param !== undefined && censored(param, quotable) === param) clean.param = param
    send(clean)
  }

  function push(chunk: Uint8Array) {
    const { size } = limit
    translator.push(chunk)
    if (limit.size === size) limit.countBytes(chunk.length) // what it says may be held back
  }

  /** Reads on until there is something to say. */
  async function pull() {
    try {
      const chunk = held.length > 0 ? undefined : await body.next()
      const chunks = chunk ? [chunk] : held
      held = NOTHING
      if (chunks.length === 0) translator.end()
      for (const one of chunks) push(one)
      if (reported) await sendReported(reported)
    } catch (thrown) {
      fail(thrown)
    }
  }

  return {
    async next() {
      while (unsent === '' && !isOver) {
        pulling ??= pull().finally(() => {
          pulling = undefined
        })
        if (!(await settlesWithin(pulling, KEEP_ALIVE_MS, clock))) return encodeUtf8(translator.keepAlive())
      }
      if (unsent !== '') return take()
      body.cancel() // all of it was read, though it may not have closed
      end(false)
      return undefined
    },
    fail(thrown) {
      fail(thrown)
      end(false) // at once, as the client may read nothing more
    },
    cancel(reason) {
      body.cancel(reason)
      isOver = true
      before.length = 0
      unsent = ''
      end(true)
    },
  }
}

type Emit = (event: StreamEvent) => void
type Stage = (emit: Emit) => Emit

/** `restore` between two other stages. What lives as long as the stream does not refer to it, as it may refer to the request. */
const between =
  (before: Stage, restore: Stage = (emit) => emit, after: Stage): Stage =>
  (emit) =>
    before(restore(after(emit)))

interface Reported {
  error: CanonicalError
  send(error: CanonicalError): void
}

const endOf = ({ status, code, source }: CanonicalError): StreamError =>
  source ?? (code === MALFORMED_CALL ? { status, class: 'content' } : streamError({ status, code }))

const NOTHING: readonly Uint8Array[] = []

/** Events of so many characters together go out, and the next ones in another chunk. */
const LARGE = 1024 * 1024
