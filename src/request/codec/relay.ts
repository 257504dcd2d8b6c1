import { type GatewayError, gatewayError, toGatewayError } from '../../errors.ts'
import { concatBytes, createFinder, decodeUtf8Lenient, encodeUtf8 } from '../../lib/bytes.ts'
import type { ByteStream } from '../../lib/exchange.ts'
import { tryParseJson } from '../../lib/json.ts'
import { createSseParser } from '../../lib/sse.ts'
import { createEventSplitter } from '../../lib/sse-split.ts'
import { MAX_EVENTS_BEFORE_REASON } from '../../protocols/formats/canonical/late-reason.ts'
import { isBlankUsage } from '../../protocols/formats/canonical/reported-usage.ts'
import { loadErrorReaders } from '../../protocols/formats/errors/load-error-readers.ts'
import type {
  ErrorDetails,
  EventFilter,
  Format,
  ResponseReader,
  StreamState,
  TokenUsage,
} from '../../protocols/formats/format.ts'
import { type StreamError, toStreamError } from './call-failure.ts'
import { toJsonArray } from './json-array.ts'
import type { StreamStart } from './response.ts'
import { completeEvent, mayBeForeign, mayContainError } from './stream-errors.ts'
import { createByteLimit } from './stream-limit.ts'
import { StreamSample } from './stream-sample.ts'
import { StreamTail } from './stream-tail.ts'

/** The stream for the client. */
export interface RelayedStream extends ByteStream {
  /** Ends the stream with an error event, even while nothing is read from it. */
  fail(error: unknown): void
}

/** Options for relaying a stream. */
export interface RelayOptions {
  /** Called once, when the provider has ended its stream or the client has disconnected. */
  onEnd(end: StreamEnd): void
  /** The credentials of the call, which the client must not see. */
  secrets: readonly string[]
  /** The credentials of all connections, which are removed from errors. */
  knownKeys(): Promise<readonly string[]>
  /** The maximum length of the text in the stream. */
  maxStreamBytes: number
  /** Passes a stream through. This is `relayStream`, which is lazy-loaded. */
  passThrough: typeof relayStream
  /** Estimates a stream's tokens. */
  estimates: Pick<
    typeof import('../../pricing/estimates.ts'),
    'countStreamedTokens' | 'estimateTokens' | 'createRepeatCounter' | 'TOKENS_PER_IMAGE'
  >
  /** Returns one of the provider's response headers. */
  header?(name: string): string | undefined
  /** Filters complete events of a passed-through stream for the client. Default: keeps all. */
  filterEvents?: EventFilter | undefined
}

/** The end of a stream. */
export interface StreamEnd {
  /** The usage that the provider has reported. */
  usage: TokenUsage | undefined
  /** The estimated output tokens, if the provider hasn't reported the entire usage. `usage` is then from the start of the stream. */
  estimatedTokens?: number | undefined
  error: StreamError | undefined
  /** Whether the client disconnected before the end. */
  isCancelled: boolean
  /** The gateway error that the client received in place of the remaining stream. */
  gatewayError?: GatewayError | undefined
  /** An unexpected error of the gateway itself. It doesn't count against the target. */
  internalError?: unknown
}

/** Returns the minimum number of output tokens: one if the stream has content, even if the estimate is zero. */
export const countMinimumTokens = ({ hasStarted, isSilent = false }: StreamState): number =>
  hasStarted && !isSilent ? 1 : 0

interface PassThroughOptions extends Omit<RelayOptions, 'passThrough'> {
  format: Format
  reader: ResponseReader
  /** Whether the client gets one JSON array of the events' data. */
  isArray?: boolean
}

/**
 * Passes a stream through in complete events. The bytes stay the same, except where the format's clients would throw (`Format.loadEventFilter`). If a
 * stream is cut off, is silent for too long, or lacks the format's end mark, it ends with an error event, never normally. The same applies if it
 * quotes a secret, or reports an error in a form that clients wouldn't recognize. Keeps a few KiB of the tail for accounting.
 */
export function relayStream(body: ByteStream, committed: StreamStart, options: PassThroughOptions): RelayedStream {
  const relayed = new PassThroughStream(body, committed, options)
  return options.isArray === true ? toJsonArray(relayed) : relayed
}

/** The last output for the client, after the last read from the provider. */
interface LastOutput {
  events: Uint8Array
  /** The error event to send after `events`, if the stream didn't end normally. */
  error?: ErrorDetails
}

class PassThroughStream implements RelayedStream {
  /** `reading`: reads from the provider. `draining`: sends the last output to the client. `over`: nothing is left. */
  #phase: 'reading' | 'draining' | 'over' = 'reading'
  #lastOutput: LastOutput | undefined = undefined
  #firstChunk: Uint8Array | undefined
  /** Events buffered after an error without a reason, because a later event may contain the reason. */
  #vagueEvents: Uint8Array | undefined = undefined
  #heldChunks = 0
  /** Text that events repeat in full. Tracked until an event sends a delta. */
  #repeatCounter: ReturnType<RelayOptions['estimates']['createRepeatCounter']> | undefined = undefined
  #quotedSecret = false
  #internalError: unknown = undefined
  readonly #body: ByteStream
  readonly #state: StreamState
  readonly #options: PassThroughOptions
  readonly #tail: StreamTail
  readonly #sample: StreamSample
  readonly #limit: ReturnType<typeof createByteLimit>
  readonly #splitter = createEventSplitter()
  readonly #quotesSecret: (bytes: Uint8Array) => boolean
  readonly #filterEvents: EventFilter | undefined

  constructor(body: ByteStream, { head, state }: StreamStart, options: PassThroughOptions) {
    this.#body = body
    this.#state = state
    this.#options = options
    this.#firstChunk = concatBytes(head)
    const { contentFields } = options.reader
    const { countStreamedTokens, createRepeatCounter } = options.estimates
    if (contentFields?.findRepeatedItems) this.#repeatCounter = createRepeatCounter(contentFields)
    this.#sample = new StreamSample((events) =>
      contentFields ? countStreamedTokens(events, contentFields.streamed) : 0,
    )
    this.#tail = new StreamTail(state, this.#sample)
    this.#limit = createByteLimit(options.maxStreamBytes)
    this.#quotesSecret = createFinder(options.secrets)
    this.#filterEvents = options.filterEvents
  }

  async next(): Promise<Uint8Array | undefined> {
    try {
      while (this.#phase === 'reading') {
        const chunk = this.#firstChunk ?? (await this.#body.next())
        this.#firstChunk = undefined
        if (!chunk) {
          await this.#endReading(undefined)
          break
        }
        const completeEvents = this.#splitter.split(chunk)
        if (!completeEvents) continue
        this.#limit.count(completeEvents)
        if (this.#repeatCounter) this.#trackRepeated(completeEvents)
        if (this.#quotesSecret(completeEvents)) {
          this.#quotedSecret = true
          throw createQuoteError()
        }
        const events = this.#filterEvents ? this.#filterEvents(completeEvents) : completeEvents
        if (this.#vagueEvents || this.#mayBeForeign(events)) {
          const screenedEvents = await this.#screen(events, completeEvents)
          if (screenedEvents.length > 0) return screenedEvents
          continue
        }
        this.#tail.add(completeEvents)
        if (events.length > 0) return events
      }
    } catch (error) {
      await this.#endReading(error)
    }
    return this.#takeLastOutput()
  }

  fail(error: unknown): void {
    this.#body.cancel(error)
    this.#startDraining(error, NOTHING)
  }

  cancel(reason?: unknown): void {
    this.#body.cancel(reason)
    this.#observe()
    this.#end('over', { isCancelled: true })
  }

  /** Handles the end of the provider's stream, or its failure with `error`. The last event may lack its blank line. */
  async #endReading(error: unknown): Promise<void> {
    if (error !== undefined) this.#body.cancel(error)
    let lastEvents: Uint8Array = NOTHING
    try {
      const remainder = this.#splitter.flush()
      if (remainder.length > 0 && this.#mayBeForeign(remainder)) await loadErrorReaders()
      lastEvents = completeEvent(remainder, this.#state)
    } catch (cause) {
      this.#internalError = cause
    }
    this.#startDraining(error, lastEvents)
  }

  /** Prepares the last output: the last complete event, and an error event if the remainder is missing. */
  #startDraining(error: unknown, lastEvents: Uint8Array): void {
    if (this.#phase !== 'reading') return
    const state = this.#state
    this.#quotedSecret ||= this.#quotesSecret(lastEvents)
    const forwardedEvents = this.#quotedSecret ? NOTHING : lastEvents
    const events = this.#filterEvents ? this.#filterEvents(forwardedEvents) : forwardedEvents
    this.#tail.add(forwardedEvents)
    this.#observe()
    const endedNormally = error === undefined ? state.hasEnded : state.isClosed
    if (!this.#quotedSecret && this.#internalError === undefined && (endedNormally || state.error)) {
      this.#lastOutput = { events }
      this.#end('draining', { error: state.error })
      return
    }
    const gatewayError = toGatewayError(
      this.#quotedSecret ? createQuoteError() : (error ?? this.#internalError ?? createCutError()),
    )
    const { status, code, message } = gatewayError
    if (code === 'INTERNAL') this.#internalError = error ?? this.#internalError
    this.#lastOutput = { events, error: { status, code, message } }
    this.#end('draining', { error: toStreamError({ status, code }), gatewayError })
  }

  #end(
    phase: 'draining' | 'over',
    { error, gatewayError, isCancelled = false }: Partial<Pick<StreamEnd, 'error' | 'gatewayError' | 'isCancelled'>>,
  ): void {
    if (this.#phase !== 'reading') return
    this.#phase = phase
    const { usage, hasPreliminaryUsage } = this.#state
    const estimatedTokens =
      usage && !hasPreliminaryUsage && !isBlankUsage(usage)
        ? undefined
        : Math.max(
            this.#sample.estimateTokens() + (this.#repeatCounter?.getTokens() ?? 0),
            countMinimumTokens(this.#state),
          )
    this.#options.onEnd({
      usage,
      estimatedTokens,
      error,
      gatewayError,
      isCancelled,
      internalError: this.#internalError,
    })
  }

  async #takeLastOutput(): Promise<Uint8Array | undefined> {
    const lastOutput = this.#lastOutput
    this.#lastOutput = undefined
    this.#phase = 'over'
    if (!lastOutput) return undefined
    const { events, error } = lastOutput
    const hasFailed = this.#vagueEvents !== undefined // whether the stream failed before its end
    try {
      const screenedEvents = hasFailed || this.#mayBeForeign(events) ? await this.#screen(events, NOTHING) : events
      if (error && !hasFailed) return concatBytes([screenedEvents, await this.#createErrorEvent(error)])
      return screenedEvents.length > 0 ? screenedEvents : undefined
    } catch (error) {
      const { status, code, message } = toGatewayError(error)
      return this.#createErrorEvent({ status, code, message }) // replaces events that may quote a key
    }
  }

  async #createErrorEvent(error: ErrorDetails): Promise<Uint8Array> {
    const errors = await this.#options.format.loadErrors()
    return encodeUtf8(errors.createEvent(error, this.#state.position))
  }

  /** Returns the events for the client. Nothing follows an error event, unless the response had already completed. */
  async #screen(events: Uint8Array, allBytes: Uint8Array): Promise<Uint8Array> {
    const { format, reader, secrets, knownKeys } = this.#options
    const vagueEvents = this.#vagueEvents
    this.#vagueEvents = undefined
    const allEvents = vagueEvents ? concatBytes([vagueEvents, events]) : events
    const [{ screenEvents }] = await Promise.all([import('./screen-events.ts'), loadErrorReaders()])
    const { error, bytes, hasEnded } = await screenEvents(allEvents, {
      format,
      reader,
      secrets: async () => [...secrets, ...(await knownKeys())],
      getStateBefore: () => {
        this.#tail.observe()
        return this.#state
      },
    })
    this.#tail.add(allBytes)
    if (!error) return bytes
    if (error.isVague && !hasEnded && this.#phase === 'reading' && this.#heldChunks++ < MAX_EVENTS_BEFORE_REASON) {
      this.#vagueEvents = allEvents.slice()
      return NOTHING
    }
    this.#body.cancel()
    this.#tail.observe()
    this.#end('over', { error })
    return bytes
  }

  /** Parses every event, because servers without deltas send few events. */
  #trackRepeated(events: Uint8Array): void {
    const text = decodeUtf8Lenient(events)
    if (text.includes('.delta"')) this.#repeatCounter = undefined
    else {
      const parser = createSseParser(({ data }) => this.#repeatCounter?.add(tryParseJson(data)))
      parser.push(text)
      parser.end()
    }
  }

  /** Returns whether these events may contain anything other than the response. */
  #mayBeForeign(events: Uint8Array): boolean {
    return mayContainError(events) || mayBeForeign(events, this.#options.reader)
  }

  /** Updates the stream's state with the last events. */
  #observe(): void {
    try {
      this.#tail.observe()
    } catch (error) {
      this.#internalError ??= error
    }
  }
}

const createCutError = () =>
  gatewayError('UPSTREAM_CUT', { message: 'The provider ended the stream before the response was complete.' })

const createQuoteError = () =>
  gatewayError('UPSTREAM_INVALID', { message: "The provider's response contained the connection's credential." })

const NOTHING = new Uint8Array(0)
