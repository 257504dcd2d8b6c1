import { gatewayError, toGatewayError } from '../../errors.ts'
import type { ErrorFacts, Format } from '../../formats/format.ts'
import { concatBytes, createFinder, encodeUtf8 } from '../../lib/bytes.ts'
import type { ByteStream } from '../../lib/exchange.ts'
import { createEventSplitter } from '../../lib/sse-split.ts'
import { type StreamError, streamError } from '../failure.ts'
import type { Committed, RelayedStream, StreamTerms } from '../types.ts'
import { closeEvent, failedEvents, maySpeakOfErrors } from './stream-errors.ts'
import { limitBytes } from './stream-limit.ts'
import { StreamTail } from './tail.ts'

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
  const tail = new StreamTail(watch)
  const limit = limitBytes(maxStreamBytes)
  const splitter = createEventSplitter()
  const isQuotedIn = createFinder(secrets)
  const keep = format.createKeeper?.()
  let first: Uint8Array | undefined = concatBytes(head)
  let isOver = false
  let isQuoting = false
  let last: Uint8Array | undefined // what is still to come when all is over
  let broken: ErrorFacts | undefined // what the error event says that follows it
  let fault: unknown

  function finish(error: StreamError | undefined, cancelled: boolean) {
    if (isOver) return
    isOver = true
    onEnd({ usage: watch.usage, error, cancelled, fault })
  }

  /** Shows the watch the last events. */
  function observe() {
    try {
      tail.observe()
    } catch (thrown) {
      fault ??= thrown
    }
  }

  /** Handles the end or failure of the upstream: the last whole event, then the error in place of what is missing. */
  function settle(thrown: unknown, rest: Uint8Array = NOTHING) {
    if (isOver) return
    isQuoting ||= isQuotedIn(rest)
    const whole = isQuoting ? NOTHING : rest
    last = keep ? keep(whole) : whole
    tail.add(whole)
    observe()
    const isClean = thrown === undefined ? watch.ended : watch.closed
    if (!isQuoting && fault === undefined && (isClean || watch.error)) {
      finish(watch.error, false)
      return
    }
    const { status, code, message } = toGatewayError(isQuoting ? quoted() : (thrown ?? fault ?? endedEarly()))
    if (code === 'INTERNAL') fault = thrown ?? fault
    broken = { status, code, message }
    finish(streamError({ status, code }), false)
  }

  /** The same, with the last event that may lack its blank line. */
  function end(thrown: unknown) {
    if (thrown !== undefined) body.cancel(thrown)
    let rest: Uint8Array = NOTHING
    try {
      rest = closeEvent(splitter.rest(), watch)
    } catch (failed) {
      fault = failed
    }
    settle(thrown, rest)
  }

  const allSecrets = async () => [...secrets, ...(await knownKeys())]

  /** The events for the client, up to an error event, whatever follows it, unless the answer was complete before. */
  async function unlessFailed(events: Uint8Array, whole: Uint8Array): Promise<Uint8Array> {
    const before = () => {
      tail.observe()
      return watch
    }
    const failed = await failedEvents(events, { format, secrets: allSecrets, before })
    tail.add(whole)
    if (!failed) return events
    body.cancel()
    tail.observe()
    finish(failed.error, false)
    return failed.bytes
  }

  /** What follows the last whole events. */
  async function parting(): Promise<Uint8Array | undefined> {
    const events = last
    last = undefined
    if (!events) return undefined
    if (broken) return concatBytes([events, encodeUtf8(format.errors.event(broken, watch.place))])
    if (maySpeakOfErrors(events)) return unlessFailed(events, NOTHING)
    return events.length > 0 ? events : undefined
  }

  return {
    async next() {
      try {
        while (!isOver) {
          const chunk = first ?? (await body.next())
          first = undefined
          if (!chunk) {
            end(undefined)
            break
          }
          const whole = splitter.take(chunk)
          if (!whole) continue
          limit.count(whole)
          if (isQuotedIn(whole)) {
            isQuoting = true
            throw quoted()
          }
          const events = keep ? keep(whole) : whole
          if (maySpeakOfErrors(events)) return await unlessFailed(events, whole)
          tail.add(whole)
          if (events.length > 0) return events
        }
      } catch (thrown) {
        end(thrown)
      }
      return parting()
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

const endedEarly = () =>
  gatewayError('UPSTREAM_CUT', { message: 'The provider ended the stream before its answer was complete.' })

const quoted = () =>
  gatewayError('UPSTREAM_INVALID', { message: 'The provider quoted the credential of the connection.' })

const NOTHING = new Uint8Array(0)
