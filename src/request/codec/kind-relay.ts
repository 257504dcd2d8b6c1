import { type GatewayError, gatewayError, toGatewayError } from '../../errors.ts'
import { concatBytes, createFinder, encodeUtf8 } from '../../lib/bytes.ts'
import type { ByteStream } from '../../lib/exchange.ts'
import { type SseEvent, type StreamFraming, type StreamParser, sseFraming } from '../../lib/sse.ts'
import { updateUsage } from '../../protocols/formats/canonical/reported-usage.ts'
import type { EmbeddedError, ErrorFormat, TokenUsage } from '../../protocols/formats/format.ts'
import type { PreparedStream } from '../../protocols/kinds/kind-adapters.ts'
import { toStreamError } from './call-failure.ts'
import { maskSecrets } from './redact-failure.ts'
import type { RelayedStream, RelayOptions, StreamEnd } from './relay.ts'
import type { StreamStart } from './response.ts'

interface KindRelayOptions extends RelayOptions {
  stream: PreparedStream
  loadErrors(): Promise<ErrorFormat>
}

/** Reports that bytes have arrived, but not their content. */
export const bytesFraming: StreamFraming = (onEvent) => ({
  push: (chunk) => {
    if (chunk.length > 0) onEvent(BYTES_EVENT)
  },
  end() {},
})

const BYTES_EVENT: SseEvent = { event: undefined, data: '' }

/**
 * Relays a non-chat stream to its client chunk by chunk, without reading ahead. A stream that is cut off, reports an error, quotes a secret, or ends
 * prematurely never ends normally: clients that read events get an error event; for others, `next` rejects, which aborts the connection.
 */
export class KindRelay implements RelayedStream {
  readonly #body: ByteStream
  readonly #options: KindRelayOptions
  readonly #reader: ReturnType<PreparedStream['open']>
  readonly #framing: StreamParser | undefined
  readonly #quotesSecret: (bytes: Uint8Array) => boolean
  readonly #overlap: number
  #head: Uint8Array[]
  #tail: Uint8Array = EMPTY_BYTES // the last bytes that were sent, because a secret may begin in them
  #output: Uint8Array[] = []
  #size = 0
  #usage: TokenUsage | undefined = undefined
  #isComplete = false
  #error: EmbeddedError | undefined = undefined
  #hasEnded = false
  #failure: { error: GatewayError } | undefined = undefined

  constructor(body: ByteStream, { head }: StreamStart, options: KindRelayOptions) {
    this.#body = body
    this.#options = options
    this.#head = [...head]
    this.#reader = options.stream.open()
    this.#quotesSecret = createFinder(options.secrets)
    this.#overlap = Math.max(0, ...options.secrets.map((secret) => encodeUtf8(secret).length - 1))
    if (options.stream.framing === 'events') this.#framing = sseFraming((event) => this.#handleEvent(event))
  }

  async next(): Promise<Uint8Array | undefined> {
    while (!this.#hasEnded) {
      try {
        const chunk = this.#head.shift() ?? (await this.#body.next())
        if (this.#hasEnded) break // the stream failed in the meantime
        if (chunk) this.#handleChunk(chunk)
        else this.#handleEnd()
      } catch (error) {
        this.fail(error)
      }
      const output = this.#takeOutput()
      if (output) return output
    }
    return this.#takeLastOutput()
  }

  fail(cause: unknown): void {
    if (this.#hasEnded) return
    this.#body.cancel(cause)
    const error = toGatewayError(cause)
    const { status, code } = error
    this.#failure = { error }
    this.#close({
      error: this.#error ?? toStreamError({ status, code }),
      gatewayError: error,
      ...(code === 'INTERNAL' && { internalError: cause }),
    })
  }

  cancel(reason?: unknown): void {
    this.#body.cancel(reason)
    this.#close({ isCancelled: true })
  }

  #handleChunk(chunk: Uint8Array): void {
    const searchedBytes = this.#tail.length > 0 ? concatBytes([this.#tail, chunk]) : chunk
    if (this.#quotesSecret(searchedBytes))
      throw gatewayError('UPSTREAM_INVALID', {
        message: "The provider's response contained the connection's credential.",
      })
    this.#tail = this.#overlap > 0 ? searchedBytes.slice(-this.#overlap) : EMPTY_BYTES
    if (this.#framing) this.#framing.push(chunk)
    else this.#handleEvent(chunk)
    if (this.#error) throw this.#createProviderError(this.#error)
    if (this.#isComplete) this.#finish()
  }

  #handleEvent(event: SseEvent | Uint8Array): void {
    if (this.#error || this.#isComplete) return
    const { bytes, usage, error, isLast } = this.#reader.read(event)
    this.#usage = updateUsage(this.#usage, usage)
    if (error) {
      this.#error = error
      return
    }
    this.#output.push(...bytes)
    if (isLast) this.#isComplete = true
  }

  #handleEnd(): void {
    this.#framing?.end()
    if (this.#error) throw this.#createProviderError(this.#error)
    if (this.#framing && !this.#isComplete)
      throw gatewayError('UPSTREAM_CUT', { message: 'The provider ended the stream before the response was complete.' })
    this.#finish()
  }

  #finish(): void {
    if (this.#framing) this.#body.cancel() // the provider may keep the connection open
    this.#output.push(...this.#reader.end(this.#options.stream.getUsage(this.#usage, this.#getHeader)))
    this.#close({})
  }

  #takeOutput(): Uint8Array | undefined {
    if (this.#output.length === 0) return undefined
    const bytes = concatBytes(this.#output)
    this.#output = []
    this.#size += bytes.length
    const { maxStreamBytes } = this.#options
    if (this.#size > maxStreamBytes && !this.#hasEnded) {
      const message = `The provider's stream is longer than ${maxStreamBytes} bytes (limits.maxStreamBytes).`
      this.fail(gatewayError('UPSTREAM_INVALID', { message }))
      return undefined
    }
    return bytes.length > 0 ? bytes : undefined
  }

  async #takeLastOutput(): Promise<Uint8Array | undefined> {
    const failure = this.#failure
    if (!failure) return undefined
    const { stream, loadErrors, secrets, knownKeys } = this.#options
    const { status, code, message } = failure.error
    if (!stream.writesEvents) throw failure.error
    this.#failure = undefined
    const errors = await loadErrors()
    try {
      const maskedMessage = maskSecrets(message, [...secrets, ...(await knownKeys())])
      return encodeUtf8(errors.createEvent({ status, code, message: maskedMessage }))
    } catch (error) {
      const clientError = toGatewayError(error)
      return encodeUtf8(
        errors.createEvent({ status: clientError.status, code: clientError.code, message: clientError.message }),
      )
    }
  }

  #createProviderError({ status, message }: EmbeddedError): GatewayError {
    return gatewayError('UPSTREAM_FAILED', { status, message })
  }

  #close(end: Partial<StreamEnd>): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    const usage = this.#options.stream.getUsage(this.#usage, this.#getHeader)
    this.#options.onEnd({ usage, error: undefined, isCancelled: false, ...end })
  }

  readonly #getHeader = (name: string): string | undefined => this.#options.header?.(name)
}

const EMPTY_BYTES = new Uint8Array(0)
