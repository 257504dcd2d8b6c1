import { type GatewayError, gatewayError, toGatewayError } from '../errors.ts'
import type { EmbeddedError, ErrorFormat, TokenUsage } from '../formats/format.ts'
import type { CarriedStream } from '../kinds/forms.ts'
import { concatBytes, createFinder, encodeUtf8 } from '../lib/bytes.ts'
import type { ByteStream } from '../lib/exchange.ts'
import { type SseEvent, type StreamFraming, type StreamParser, sseFraming } from '../lib/sse.ts'
import { streamError } from './failure.ts'
import type { RelayedStream, StreamEnd, StreamTerms } from './relay.ts'
import type { Committed } from './response.ts'
import { censored } from './secrets.ts'

interface KindTerms extends StreamTerms {
  stream: CarriedStream
  errors: ErrorFormat
}

/** Divides bytes into what shows that there are some. */
export const bytesFraming: StreamFraming = (onEvent) => ({
  push: (chunk) => {
    if (chunk.length > 0) onEvent(SOME_BYTES)
  },
  end() {},
})

const SOME_BYTES: SseEvent = { event: undefined, data: '' }

/**
 * Carries a committed stream of a kind to its client, chunk by chunk: nothing is read ahead of the client. A stream that breaks off, reports
 * an error, quotes a secret or ends early never ends normally: where the client reads events it gets one with the error, otherwise `next`
 * rejects, which aborts the connection.
 */
export class KindRelay implements RelayedStream {
  readonly #body: ByteStream
  readonly #terms: KindTerms
  readonly #opened: ReturnType<CarriedStream['open']>
  readonly #framing: StreamParser | undefined
  readonly #quotesSecret: (bytes: Uint8Array) => boolean
  readonly #overlap: number
  #head: Uint8Array[]
  #tail: Uint8Array = NOTHING // the last bytes of what was sent, with which a secret may begin
  #out: Uint8Array[] = []
  #size = 0
  #usage: TokenUsage | undefined = undefined
  #isComplete = false
  #error: EmbeddedError | undefined = undefined
  #isOver = false
  #failure: { error: GatewayError } | undefined = undefined

  constructor(body: ByteStream, { head }: Committed, terms: KindTerms) {
    this.#body = body
    this.#terms = terms
    this.#head = [...head]
    this.#opened = terms.stream.open()
    this.#quotesSecret = createFinder(terms.secrets)
    this.#overlap = Math.max(0, ...terms.secrets.map((secret) => encodeUtf8(secret).length - 1))
    if (terms.stream.of === 'events') this.#framing = sseFraming((event) => this.#take(event))
  }

  async next(): Promise<Uint8Array | undefined> {
    while (!this.#isOver) {
      try {
        const chunk = this.#head.shift() ?? (await this.#body.next())
        if (this.#isOver) break // it has failed meanwhile
        if (chunk) this.#read(chunk)
        else this.#end()
      } catch (thrown) {
        this.fail(thrown)
      }
      const sent = this.#sent()
      if (sent) return sent
    }
    return this.#part()
  }

  fail(thrown: unknown): void {
    if (this.#isOver) return
    this.#body.cancel(thrown)
    const error = toGatewayError(thrown)
    const { status, code } = error
    this.#failure = { error }
    this.#close({
      error: this.#error ?? streamError({ status, code }),
      ended: error,
      ...(code === 'INTERNAL' && { fault: thrown }),
    })
  }

  cancel(reason?: unknown): void {
    this.#body.cancel(reason)
    this.#close({ cancelled: true })
  }

  #read(chunk: Uint8Array): void {
    const seen = this.#tail.length > 0 ? concatBytes([this.#tail, chunk]) : chunk
    if (this.#quotesSecret(seen))
      throw gatewayError('UPSTREAM_INVALID', { message: 'The provider quoted the credential of the connection.' })
    this.#tail = this.#overlap > 0 ? seen.slice(-this.#overlap) : NOTHING
    if (this.#framing) this.#framing.push(chunk)
    else this.#take(chunk)
    if (this.#error) throw this.#providerError(this.#error)
    if (this.#isComplete) this.#finish()
  }

  #take(said: SseEvent | Uint8Array): void {
    if (this.#error || this.#isComplete) return
    const { bytes, usage, error, isLast } = this.#opened.read(said)
    if (usage) this.#usage = usage
    if (error) {
      this.#error = error
      return
    }
    this.#out.push(...bytes)
    if (isLast) this.#isComplete = true
  }

  /** The provider has nothing more. */
  #end(): void {
    this.#framing?.end()
    if (this.#error) throw this.#providerError(this.#error)
    if (this.#framing && !this.#isComplete)
      throw gatewayError('UPSTREAM_CUT', { message: 'The provider ended the stream before its answer was complete.' })
    this.#finish()
  }

  #finish(): void {
    if (this.#framing) this.#body.cancel() // the provider may keep the connection open
    this.#out.push(...this.#opened.end(this.#terms.stream.usage(this.#usage, this.#header)))
    this.#close({})
  }

  #sent(): Uint8Array | undefined {
    if (this.#out.length === 0) return undefined
    const bytes = concatBytes(this.#out)
    this.#out = []
    this.#size += bytes.length
    const { maxStreamBytes } = this.#terms
    if (this.#size > maxStreamBytes && !this.#isOver) {
      const message = `The provider did not stop: its stream has more than ${maxStreamBytes} bytes (limits.maxStreamBytes).`
      this.fail(gatewayError('UPSTREAM_INVALID', { message }))
      return undefined
    }
    return bytes.length > 0 ? bytes : undefined
  }

  /** What the client gets last. */
  async #part(): Promise<Uint8Array | undefined> {
    const failure = this.#failure
    if (!failure) return undefined
    const { stream, errors, secrets, knownKeys } = this.#terms
    const { status, code, message } = failure.error
    if (!stream.isEvents) throw failure.error
    this.#failure = undefined
    const shown = censored(message, [...secrets, ...(await knownKeys())])
    return encodeUtf8(errors.event({ status, code, message: shown }))
  }

  #providerError({ status, message }: EmbeddedError): GatewayError {
    return gatewayError('UPSTREAM_FAILED', { status, message })
  }

  #close(end: Partial<StreamEnd>): void {
    if (this.#isOver) return
    this.#isOver = true
    const usage = this.#terms.stream.usage(this.#usage, this.#header)
    this.#terms.onEnd({ usage, error: undefined, cancelled: false, ...end })
  }

  readonly #header = (name: string): string | undefined => this.#terms.header?.(name)
}

const NOTHING = new Uint8Array(0)
