import { concatBytes, decodeUtf8Lenient } from '../../lib/bytes.ts'
import { type ByteStream, EMPTY_STREAM, type UpstreamResponse } from '../../lib/exchange.ts'
import { createEventTooLongError, MAX_EVENT_SIZE, sseFraming } from '../../lib/sse.ts'
import { MAX_EVENTS_BEFORE_REASON } from '../../protocols/formats/canonical/late-reason.ts'
import { updateUsage } from '../../protocols/formats/canonical/reported-usage.ts'
import { containsTurnEnd } from '../../protocols/formats/errors/empty-responses.ts'
import { loadErrorReaders } from '../../protocols/formats/errors/load-error-readers.ts'
import type { EmbeddedError, StreamState, StreamStateFactory } from '../../protocols/formats/format.ts'
import { emptyResponseFailure } from '../codec/call-failure.ts'
import type { FailedResponse, ReceivedResponse, StreamStart } from '../codec/response.ts'
import type { ProviderCall } from '../upstream/provider-call.ts'
import type { ReceiveOptions } from './receive.ts'

/** Why a stream isn't a usable response. */
export interface UncommittedStream extends EmbeddedError {
  kind?: undefined
  /** The complete body, if it ended without any event. */
  unreadChunks?: Uint8Array[]
}

/** Reads a stream up to its first content, or until it turns out not to be a stream. Rejects if reading its body fails. */
export async function receiveStream(
  head: UpstreamResponse,
  options: ReceiveOptions,
  call: ProviderCall,
): Promise<ReceivedResponse | FailedResponse | UncommittedStream> {
  const start = await commitStream(head.body, options)
  if ('state' in start && start.state.hasStarted) {
    call.setTotalTimeout(Number.POSITIVE_INFINITY)
    return { kind: 'stream', head, body: head.body, start }
  }
  call.cancel(start)
  return 'state' in start ? createEmptyStreamFailure(head, start) : start
}

/**
 * Buffers a stream until its first content or its end. Before that point, an error event or a premature end fails the attempt, so the next target can
 * be tried; after it, errors go to the client. Rejects like `body`, and with `UPSTREAM_INVALID` if there is no content within 16 MiB.
 */
async function commitStream(body: ByteStream, options: ReceiveOptions): Promise<StreamStart | UncommittedStream> {
  const watchStream = await options.reader.loadStateFactory()
  const head: Uint8Array[] = []
  let size = 0
  let reader = createStartReader(watchStream, options)
  /** Reads the stream again if it may contain an error that couldn't be read. */
  async function readAgain(hasEnded: boolean) {
    await loadErrorReaders()
    reader = createStartReader(watchStream, options)
    for (const chunk of head) reader.parser.push(chunk)
    if (hasEnded) reader.parser.end()
  }

  for (let chunk = await body.next(); chunk; chunk = await body.next()) {
    head.push(chunk)
    size += chunk.length
    if (size > MAX_EVENT_SIZE) throw createEventTooLongError()
    reader.parser.push(chunk)
    if (isUnread(reader.state)) await readAgain(false)
    const { state } = reader
    const streamError = reader.failure()
    if (streamError && !state.hasStarted) return streamError
    if (state.hasStarted) return { head, state }
    if (state.isClosed) break
  }
  reader.parser.end() // reads a last event without its blank line; a truncated one isn't valid JSON and is ignored
  if (isUnread(reader.state)) await readAgain(true)
  const { state } = reader
  if (state.error && !state.hasStarted) return state.error
  if (state.hasEnded) return { head, state }
  const message = `The provider ended the stream before ${state.hasStarted ? 'the response was complete' : 'it sent any content'}.`
  return { class: 'content', status: 502, message, ...(!reader.hasEvents && { unreadChunks: head }) }
}

const isUnread = ({ error, isUnread }: StreamState) => isUnread || error?.isUnparsed === true

/** Creates a reader that parses a stream's events, and observes them until the response has started. */
function createStartReader(watchStream: StreamStateFactory, { format, onEvents }: ReceiveOptions) {
  const state = watchStream()
  onEvents(state)
  const { observe, failure } = createObserver(state, { watchStream, onEvents })
  const { framing = sseFraming } = format
  const parser = framing((event) => {
    reader.hasEvents = true
    if (!state.hasStarted) observe(event)
  })
  const reader = { state, failure, parser, hasEvents: false }
  return reader
}

/**
 * Passes a stream's events to its state. After an error, events only count for the usage that they report, because the stream can no longer succeed.
 * Returns the error as `failure` once no later event can provide its reason.
 */
export function createObserver(
  state: StreamState,
  { watchStream, onEvents }: Pick<ReceiveOptions, 'onEvents'> & { watchStream: StreamStateFactory },
): Pick<StreamState, 'observe'> & { failure(): EmbeddedError | undefined } {
  let usageState: StreamState | undefined
  let eventsAfterError = 0 // the number of events after an error without a reason
  const failure = () => (state.error?.isVague && eventsAfterError < MAX_EVENTS_BEFORE_REASON ? undefined : state.error)
  return {
    failure,
    observe(event) {
      if (!failure()) {
        if (state.error) eventsAfterError++
        return state.observe(event)
      }
      usageState ??= watchStream()
      usageState.observe(event)
      onEvents({ usage: updateUsage(state.usage, usageState.usage) })
    },
  }
}

/** Returns the failure for a stream that ended without content. Keeps the stream if the model ended its turn normally. */
function createEmptyStreamFailure(head: UpstreamResponse, start: StreamStart): FailedResponse {
  const failedResponse: FailedResponse = { kind: 'failure', failure: emptyResponseFailure }
  if (!containsTurnEnd(decodeUtf8Lenient(concatBytes(start.head)))) return failedResponse
  return { ...failedResponse, unusedResponse: { kind: 'stream', head, body: EMPTY_STREAM, start } }
}
