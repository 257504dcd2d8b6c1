import { gatewayError, toGatewayError } from '../errors.ts'
import type { EmbeddedError, ErrorFacts, Format, TokenUsage } from '../formats/format.ts'
import { concatBytes, encodeUtf8 } from '../lib/bytes.ts'
import type { ByteStream } from '../lib/exchange.ts'
import { createFinder } from '../lib/find-bytes.ts'
import { createEventSplitter } from '../lib/sse-split.ts'
import type { Committed } from './commit.ts'
import { maySpeakOfErrors } from './error-marks.ts'
import { limitBytes } from './stream-limit.ts'
import { createTail } from './tail.ts'

/** How a committed stream ended. */
export interface StreamEnd {
  usage: TokenUsage | undefined
  /** The error that the stream ended with, if any. */
  error: EmbeddedError | undefined
  /** The client left before the end. */
  cancelled: boolean
  /** What the gateway itself has failed at, which is nothing against the target. */
  fault?: unknown
}

/** What relaying a stream depends on besides. */
export interface StreamTerms {
  onEnd(end: StreamEnd): void
  /** The credentials of the call, which must not reach the client. */
  secrets: readonly string[]
  /** The credentials of all connections, which are removed from an error. */
  knownKeys(): Promise<readonly string[]>
  /** How much text the stream may have. */
  maxStreamBytes: number
}

/** The stream for the client. */
export interface RelayedStream extends ByteStream {
  /** Ends the stream with an error event, even while nobody reads. */
  fail(error: unknown): void
}

/**
 * Passes a committed stream on in whole events, byte for byte but for what clients of the format throw at (`Format.createKeeper`). A stream
 * that breaks off, is silent for too long, or ends without the format's end mark gets an error event for the rest, never a normal end. So does
 * one that quotes a secret, or reports an error in a form that clients would not recognise. Keeps a few KiB of the tail for accounting.
 */
export function relayStream(
  body: ByteStream,
  { head, watch }: Committed,
  { format, onEnd, secrets, knownKeys, maxStreamBytes }: StreamTerms & { format: Format },
): RelayedStream {
  const tail = createTail(watch)
  const limit = limitBytes(maxStreamBytes)
  const splitter = createEventSplitter()
  const isQuotedIn = createFinder(secrets)
  const kept = format.createKeeper?.() ?? unchanged
  let first: Uint8Array | undefined = concatBytes(head)
  let over = false
  let isQuoting = false
  let counted: Uint8Array = NOTHING // the provider's own bytes of what the client gets next
  let parting: Uint8Array | undefined // what is still to come when all is over
  let broken: ErrorFacts | undefined // and then this is told
  let fault: unknown

  function finish(error: EmbeddedError | undefined, cancelled: boolean) {
    if (over) return
    over = true
    onEnd({ usage: watch.usage, error, cancelled, fault })
  }

  /** Adds to the tail, and keeps no reference: that would keep the provider's chunk alive for as long as the next one takes. */
  function addCounted() {
    tail.add(counted)
    counted = NOTHING
  }

  /** Reads the end of what has been said. */
  function observe() {
    try {
      tail.observe()
    } catch (thrown) {
      fault ??= thrown
    }
  }

  /** Handles the end or failure of the upstream: the last whole event, then the error in place of what is missing. */
  function settle(thrown: unknown, rest: Uint8Array = NOTHING) {
    if (over) return
    isQuoting ||= isQuotedIn(rest)
    counted = isQuoting ? NOTHING : rest
    parting = kept(counted)
    addCounted()
    observe()
    const clean = thrown === undefined ? watch.ended : watch.closed
    if (!isQuoting && fault === undefined && (clean || watch.error)) {
      finish(watch.error, false)
      return
    }
    const { status, code, message } = toGatewayError(isQuoting ? quoted() : (thrown ?? fault ?? endedEarly()))
    if (code === 'INTERNAL') fault = thrown ?? fault
    broken = { status, code, message }
    finish({ status, message }, false)
  }

  /** The same, with the last event that may lack its blank line. */
  async function end(thrown: unknown) {
    if (thrown !== undefined) body.cancel(thrown)
    let rest: Uint8Array = NOTHING
    try {
      const held = splitter.rest()
      if (held.length > 0) rest = (await import('./last-event.ts')).closeEvent(held, watch)
    } catch (failed) {
      fault = failed
    }
    settle(thrown, rest)
  }

  /** Takes a chunk; returns the whole events that it completes, if any, as clients can read them. */
  function take(chunk: Uint8Array): Uint8Array | undefined {
    const whole = splitter.take(chunk)
    if (!whole) return undefined
    limit.count(whole)
    if (isQuotedIn(whole)) {
      isQuoting = true
      throw quoted()
    }
    const readable = kept(whole)
    counted = whole
    if (readable.length > 0) return readable
    tail.add(whole)
    return undefined
  }

  const allSecrets = async () => [...secrets, ...(await knownKeys())]

  /** Ends the stream at an error event, whatever follows it, unless the answer was complete before. */
  async function unlessFailed(whole: Uint8Array): Promise<Uint8Array> {
    const { failedEvents } = await import('./failed-events.ts')
    const before = () => {
      tail.observe()
      return watch
    }
    const failed = await failedEvents(whole, { format, secrets: allSecrets, before })
    addCounted()
    if (!failed) return whole
    body.cancel()
    tail.observe()
    finish(failed.error, false)
    return failed.bytes
  }

  return {
    async next() {
      try {
        while (!over) {
          const chunk = first ?? (await body.next())
          first = undefined
          const whole = chunk ? take(chunk) : await end(undefined)
          if (!whole) continue
          if (maySpeakOfErrors(whole)) return await unlessFailed(whole)
          addCounted()
          return whole
        }
      } catch (thrown) {
        await end(thrown)
      }
      const last = parting
      parting = undefined
      if (last && broken) {
        const { event } = await format.loadErrors()
        return concatBytes([last, encodeUtf8(event(broken, watch.place))])
      }
      if (last && maySpeakOfErrors(last)) return unlessFailed(last)
      return last?.length ? last : undefined
    },
    fail(thrown) {
      body.cancel(thrown)
      settle(thrown)
    },
    cancel(reason) {
      body.cancel(reason)
      observe()
      finish(undefined, true)
    },
  }
}

const unchanged = (events: Uint8Array): Uint8Array => events

const endedEarly = () =>
  gatewayError('UPSTREAM_CUT', { message: 'The provider ended the stream before its answer was complete.' })

const quoted = () =>
  gatewayError('UPSTREAM_INVALID', { message: 'The provider quoted the credential of the connection.' })

const NOTHING = new Uint8Array(0)
