import { type GatewayError, gatewayError, toGatewayError } from '../errors.ts'
import type { AnswerReader, ErrorFacts, Format, StreamState, TokenUsage } from '../formats/format.ts'
import { concatBytes, createFinder, encodeUtf8 } from '../lib/bytes.ts'
import type { ByteStream } from '../lib/exchange.ts'
import { createEventSplitter } from '../lib/sse-split.ts'
import { type StreamError, streamError } from './failure.ts'
import type { Committed } from './response.ts'
import { closeEvent, mayBeForeign, maySpeakOfErrors, seenEvents } from './stream-errors.ts'
import { limitBytes } from './stream-limit.ts'
import { StreamSample } from './stream-sample.ts'
import { StreamTail } from './tail.ts'

/** The stream for the client. */
export interface RelayedStream extends ByteStream {
  /** Ends the stream with an error event, even while nothing is read from it. */
  fail(error: unknown): void
}

/** What relaying a stream depends on besides. */
export interface StreamTerms {
  /** Called once, when the provider has nothing more or the client has left. */
  onEnd(end: StreamEnd): void
  /** The credentials of the call, which must not reach the client. */
  secrets: readonly string[]
  /** The credentials of all connections, which are removed from an error. */
  knownKeys(): Promise<readonly string[]>
  /** How much text the stream may have. */
  maxStreamBytes: number
  /** How the tokens of a stream are estimated. */
  estimates: Pick<typeof import('../usage/estimates.ts'), 'streamedTokens' | 'likelyTokens'>
  /** A header of the provider's answer. */
  header?(name: string): string | undefined
  /** What the client gets of whole events of a stream that is passed through; default: all. */
  keep?(events: Uint8Array): Uint8Array
}

/** How a committed stream ended. */
export interface StreamEnd {
  /** What the provider has reported. */
  usage: TokenUsage | undefined
  /** An estimate of the tokens that the stream has said, where the provider has not reported all; `usage` is then that of its beginning. */
  streamed?: number | undefined
  error: StreamError | undefined
  /** The client left before the end. */
  cancelled: boolean
  /** The error of the gateway that the client has read in place of the rest. */
  ended?: GatewayError | undefined
  /** What the gateway itself has failed at, which is nothing against the target. */
  fault?: unknown
}

type PassedTerms = StreamTerms & { format: Format; answers: AnswerReader }

/**
 * Passes a committed stream on in whole events, byte for byte but for what clients of the format throw at (`Format.createKeeper`). A stream
 * that breaks off, is silent for too long, or ends without the format's end mark gets an error event for the rest, never a normal end. So does
 * one that quotes a secret, or reports an error in a form that clients would not recognise. Keeps a few KiB of the tail for accounting.
 */
export const relayStream = (body: ByteStream, committed: Committed, terms: PassedTerms): RelayedStream =>
  new PassedStream(body, committed, terms)

/** What the client still gets when nothing more is read from the provider. */
interface Parting {
  /** The last whole events. */
  events: Uint8Array
  /** What the error event says that follows them, where the stream did not end well. */
  error?: ErrorFacts
}

class PassedStream implements RelayedStream {
  /** `flowing`: the provider is read. `parting`: the client gets what is left. `over`: there is nothing more. */
  #phase: 'flowing' | 'parting' | 'over' = 'flowing'
  #parting: Parting | undefined = undefined
  #first: Uint8Array | undefined
  #isQuoting = false
  #fault: unknown = undefined
  readonly #body: ByteStream
  readonly #state: StreamState
  readonly #terms: PassedTerms
  readonly #tail: StreamTail
  readonly #sample: StreamSample
  readonly #limit: ReturnType<typeof limitBytes>
  readonly #splitter = createEventSplitter()
  readonly #quotesSecret: (bytes: Uint8Array) => boolean
  readonly #keep: ((events: Uint8Array) => Uint8Array) | undefined

  constructor(body: ByteStream, { head, state }: Committed, terms: PassedTerms) {
    this.#body = body
    this.#state = state
    this.#terms = terms
    this.#first = concatBytes(head)
    const { said } = terms.answers
    const { streamedTokens } = terms.estimates
    this.#sample = new StreamSample((events) => (said ? streamedTokens(events, said.streamed) : 0))
    this.#tail = new StreamTail(state, this.#sample)
    this.#limit = limitBytes(terms.maxStreamBytes)
    this.#quotesSecret = createFinder(terms.secrets)
    this.#keep = terms.keep ?? terms.format.createKeeper?.()
  }

  async next(): Promise<Uint8Array | undefined> {
    try {
      while (this.#phase === 'flowing') {
        const chunk = this.#first ?? (await this.#body.next())
        this.#first = undefined
        if (!chunk) {
          this.#endOfProvider(undefined)
          break
        }
        const whole = this.#splitter.take(chunk)
        if (!whole) continue
        this.#limit.count(whole)
        if (this.#quotesSecret(whole)) {
          this.#isQuoting = true
          throw quoted()
        }
        const events = this.#keep ? this.#keep(whole) : whole
        if (this.#mayBeNoAnswer(events)) {
          const seen = await this.#unlessFailed(events, whole)
          if (seen.length > 0) return seen
          continue
        }
        this.#tail.add(whole)
        if (events.length > 0) return events
      }
    } catch (thrown) {
      this.#endOfProvider(thrown)
    }
    return this.#part()
  }

  fail(thrown: unknown): void {
    this.#body.cancel(thrown)
    this.#beginParting(thrown, NOTHING)
  }

  cancel(reason?: unknown): void {
    this.#body.cancel(reason)
    this.#observe()
    this.#end('over', { cancelled: true })
  }

  /** The provider has nothing more, or has failed with `thrown`. Its last event may lack its blank line. */
  #endOfProvider(thrown: unknown): void {
    if (thrown !== undefined) this.#body.cancel(thrown)
    let rest: Uint8Array = NOTHING
    try {
      rest = closeEvent(this.#splitter.rest(), this.#state)
    } catch (failed) {
      this.#fault = failed
    }
    this.#beginParting(thrown, rest)
  }

  /** Decides what the client gets last: the last whole event, and an error event in place of what is missing. */
  #beginParting(thrown: unknown, rest: Uint8Array): void {
    if (this.#phase !== 'flowing') return
    const state = this.#state
    this.#isQuoting ||= this.#quotesSecret(rest)
    const whole = this.#isQuoting ? NOTHING : rest
    const events = this.#keep ? this.#keep(whole) : whole
    this.#tail.add(whole)
    this.#observe()
    const isClean = thrown === undefined ? state.ended : state.closed
    if (!this.#isQuoting && this.#fault === undefined && (isClean || state.error)) {
      this.#parting = { events }
      this.#end('parting', { error: state.error })
      return
    }
    const ended = toGatewayError(this.#isQuoting ? quoted() : (thrown ?? this.#fault ?? cut()))
    const { status, code, message } = ended
    if (code === 'INTERNAL') this.#fault = thrown ?? this.#fault
    this.#parting = { events, error: { status, code, message } }
    this.#end('parting', { error: streamError({ status, code }), ended })
  }

  #end(
    phase: 'parting' | 'over',
    { error, ended, cancelled = false }: Partial<Pick<StreamEnd, 'error' | 'ended' | 'cancelled'>>,
  ): void {
    if (this.#phase !== 'flowing') return
    this.#phase = phase
    const { usage, hasBegunUsage } = this.#state
    const streamed = usage && !hasBegunUsage ? undefined : this.#sample.tokens()
    this.#terms.onEnd({ usage, streamed, error, ended, cancelled, fault: this.#fault })
  }

  async #part(): Promise<Uint8Array | undefined> {
    const parting = this.#parting
    this.#parting = undefined
    this.#phase = 'over'
    if (!parting) return undefined
    const { events, error } = parting
    const seen = this.#mayBeNoAnswer(events) ? await this.#unlessFailed(events, NOTHING) : events
    if (error) return concatBytes([seen, encodeUtf8(this.#terms.format.errors.event(error, this.#state.place))])
    return seen.length > 0 ? seen : undefined
  }

  /** The events for the client, up to an error event, whatever follows it, unless the answer was complete before. */
  async #unlessFailed(events: Uint8Array, whole: Uint8Array): Promise<Uint8Array> {
    const { format, answers, secrets, knownKeys } = this.#terms
    const { error, bytes } = await seenEvents(events, {
      format,
      answers,
      secrets: async () => [...secrets, ...(await knownKeys())],
      before: () => {
        this.#tail.observe()
        return this.#state
      },
    })
    this.#tail.add(whole)
    if (!error) return bytes
    this.#body.cancel()
    this.#tail.observe()
    this.#end('over', { error })
    return bytes
  }

  /** May these whole events hold something else than the answer? */
  #mayBeNoAnswer(events: Uint8Array): boolean {
    return maySpeakOfErrors(events) || mayBeForeign(events, this.#terms.answers)
  }

  /** Shows the last events to the state of the stream. */
  #observe(): void {
    try {
      this.#tail.observe()
    } catch (thrown) {
      this.#fault ??= thrown
    }
  }
}

const cut = () =>
  gatewayError('UPSTREAM_CUT', { message: 'The provider ended the stream before its answer was complete.' })

const quoted = () =>
  gatewayError('UPSTREAM_INVALID', { message: 'The provider quoted the credential of the connection.' })

const NOTHING = new Uint8Array(0)
