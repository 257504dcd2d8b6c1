import { type GatewayError, toGatewayError } from '../../errors.ts'
import { encodeUtf8 } from '../../lib/bytes.ts'
import { settlesWithin } from '../../lib/deadline.ts'
import type { ByteStream } from '../../lib/exchange.ts'
import { escapeLineSeparators } from '../../lib/sse.ts'
import { type CanonicalError, MALFORMED_CALL } from '../../protocols/formats/canonical/canonical-errors.ts'
import type { StreamEvent } from '../../protocols/formats/canonical/canonical-stream.ts'
import type { StreamState } from '../../protocols/formats/format.ts'
import { type StreamTranslation, toCanonicalError, translateStream } from '../../protocols/formats/translate-stream.ts'
import type { Clock } from '../../types.ts'
import { type StreamError, toStreamError } from './call-failure.ts'
import { createDroppedFieldsComment } from './dropped-fields.ts'
import { maskSecrets, redactSecrets } from './redact-failure.ts'
import { countMinimumTokens, type RelayedStream, type RelayOptions } from './relay.ts'
import type { StreamStart } from './response.ts'
import { KEEP_ALIVE_MS } from './stream-headers.ts'
import { createEventLimit } from './stream-limit.ts'

interface TranslatedRelayOptions extends RelayOptions {
  translation: StreamTranslation
  clock: Clock
}

/**
 * Translates a stream to the client's format. Everything that one read from the provider returns is sent as one chunk, so no event waits for a later
 * read. A stream that is cut off, ends prematurely, or is silent for too long ends with an error event.
 */
export const relayTranslatedStream = (
  body: ByteStream,
  start: StreamStart,
  options: TranslatedRelayOptions,
): RelayedStream => new TranslatedStream(body, start, options)

/**
 * A translated stream. It keeps neither `options` nor the translation's `restore`, because these may refer to the request, whose conversation may be
 * large.
 */
class TranslatedStream implements RelayedStream {
  /** `reading`: reads from the provider. `draining`: sends the rest to the client. `over`: `onEnd` has been called. */
  #phase: 'reading' | 'draining' | 'over' = 'reading'
  /** The events for the client. Complete strings come first; there are several because a string's length is limited. */
  #text = ''
  readonly #fullTexts: string[] = []
  /** The chunks that arrived before the stream was relayed. */
  #head: readonly Uint8Array[]
  /** The read in progress. It outlives a `next` that returned a keep-alive. */
  #pendingRead: Promise<void> | undefined = undefined
  /** The provider's error, until it has been sent to the client. */
  #pendingError: PendingError | undefined = undefined
  #error: StreamError | undefined = undefined
  #gatewayError: GatewayError | undefined = undefined
  #internalError: unknown = undefined
  /** Whether the provider has ended its response or sent an error, after which no more usage follows. */
  #isUsageFinal = false
  #estimatedTokens = 0
  readonly #body: ByteStream
  readonly #state: StreamState
  readonly #initialUsage: StreamState['usage']
  readonly #clock: Clock
  readonly #secrets: readonly string[]
  readonly #knownKeys: RelayOptions['knownKeys']
  readonly #estimates: RelayOptions['estimates']
  readonly #onEnd: RelayOptions['onEnd']
  readonly #limit: ReturnType<typeof createEventLimit>
  readonly #translator: ReturnType<typeof translateStream>

  constructor(body: ByteStream, { head, state }: StreamStart, options: TranslatedRelayOptions) {
    this.#body = body
    this.#head = head
    this.#state = state
    this.#initialUsage = state.usage
    this.#clock = options.clock
    this.#secrets = options.secrets
    this.#knownKeys = options.knownKeys
    this.#estimates = options.estimates
    this.#onEnd = options.onEnd
    this.#limit = createEventLimit(options.maxStreamBytes)
    this.#translator = this.#createTranslator(options.translation)
  }

  /** Creates the translator. Counts events before they are restored, because restoring buffers text, and watches for the end afterward. */
  #createTranslator(translation: StreamTranslation): ReturnType<typeof translateStream> {
    const { restore = (emit) => emit, writerContext } = translation
    const { responseWarnings } = writerContext

    const countEvents: Stage = (emit) => (event) => {
      this.#limit.count(event)
      if (event.type === 'part-delta') this.#estimatedTokens += this.#estimates.estimateTokens(event.text)
      if (event.type === 'part-start' && event.part.type === 'image')
        this.#estimatedTokens += this.#estimates.TOKENS_PER_IMAGE
      emit(event)
    }

    const watchEvents: Stage = (emit) => (event) => {
      if (event.type === 'error') {
        const send = (error: CanonicalError) => emit({ ...event, error })
        this.#error = toEndError(event.error)
        if (isFromProvider(event.error)) this.#isUsageFinal = true
        if (this.#phase === 'reading') this.#pendingError = { error: event.error, send }
        else send(event.error)
        return
      }
      if (event.type === 'end') {
        this.#isUsageFinal = true
        this.#stopReading()
      }
      emit(event)
    }

    return translateStream(
      {
        ...translation,
        restore: composeStages(countEvents, restore, watchEvents),
        writerContext: {
          ...writerContext,
          beforeEnd: () => {
            this.#text += createDroppedFieldsComment(responseWarnings) ?? ''
          },
        },
      },
      (event) => {
        if (this.#text.length > MAX_BUFFERED_CHARACTERS) {
          this.#fullTexts.push(this.#text)
          this.#text = ''
        }
        this.#text += event
      },
    )
  }

  async next(): Promise<Uint8Array | undefined> {
    while (this.#text === '' && this.#phase === 'reading') {
      this.#pendingRead ??= this.#read().finally(() => {
        this.#pendingRead = undefined
      })
      if (!(await settlesWithin(this.#pendingRead, KEEP_ALIVE_MS, this.#clock)))
        return encodeUtf8(this.#translator.keepAlive())
    }
    if (this.#text !== '') return this.#takeText()
    this.#body.cancel() // everything was read, but the provider may keep the connection open
    this.#end(false)
    return undefined
  }

  fail(error: unknown): void {
    this.#fail(error)
    this.#end(false) // immediately, because the client may have stopped reading
  }

  cancel(reason?: unknown): void {
    this.#body.cancel(reason)
    this.#fullTexts.length = 0
    this.#text = ''
    this.#end(true)
  }

  /** Reads once from the provider, and translates what has arrived. */
  async #read(): Promise<void> {
    try {
      const chunk = this.#head.length > 0 ? undefined : await this.#body.next()
      const chunks = chunk ? [chunk] : this.#head
      this.#head = NO_CHUNKS
      if (chunks.length === 0) this.#translator.end()
      for (const chunk of chunks) this.#translate(chunk)
      if (this.#pendingError) await this.#sendProviderError(this.#pendingError)
    } catch (error) {
      this.#fail(error)
    }
  }

  #translate(chunk: Uint8Array): void {
    const { size } = this.#limit
    this.#translator.push(chunk)
    if (this.#limit.size === size) this.#limit.countBytes(chunk.length) // counts the bytes, because the text may be buffered
  }

  #takeText(): Uint8Array {
    let text = this.#fullTexts.shift()
    if (text === undefined) {
      text = this.#text
      this.#text = ''
    }
    return encodeUtf8(escapeLineSeparators(redactSecrets(text, this.#secrets)))
  }

  #fail(cause: unknown): void {
    if (this.#phase !== 'reading') return
    this.#body.cancel(cause)
    const error = toGatewayError(cause)
    if (error.code === 'INTERNAL') this.#internalError = cause
    this.#gatewayError = error
    this.#stopReading()
    if (this.#pendingError) this.#pendingError.send(toCanonicalError(error))
    else this.#translator.fail(toCanonicalError(error))
  }

  /** Ends the stream with the provider's error, without the credentials that it may quote. */
  async #sendProviderError({ error, send }: PendingError): Promise<void> {
    const secrets = [...this.#secrets, ...(await this.#knownKeys())]
    if (this.#phase !== 'reading') return // the stream was canceled or failed in the meantime
    this.#stopReading()
    const { message, code, param, ...otherFields } = error
    const redactedError: CanonicalError = { ...otherFields, message: maskSecrets(message, secrets) }
    // A code that quotes a credential isn't a real error code, so clients can't use it.
    if (code !== undefined && maskSecrets(code, secrets) === code) redactedError.code = code
    if (param !== undefined && maskSecrets(param, secrets) === param) redactedError.param = param
    send(redactedError)
  }

  #stopReading(): void {
    if (this.#phase === 'reading') this.#phase = 'draining'
  }

  #end(isCancelled: boolean): void {
    if (this.#phase === 'over') return
    this.#phase = 'over'
    const { usage = this.#initialUsage, hasReportedUsage } = this.#translator.usageReport
    this.#onEnd({
      usage,
      estimatedTokens:
        this.#isUsageFinal && hasReportedUsage
          ? undefined
          : Math.max(this.#estimatedTokens, countMinimumTokens(this.#state)),
      error: this.#error,
      gatewayError: this.#gatewayError,
      isCancelled,
      internalError: this.#internalError,
    })
  }
}

type Emit = (event: StreamEvent) => void
type Stage = (emit: Emit) => Emit

/** Composes stages outside the class, so that none of the stream's closures retains `restore`. */
const composeStages =
  (first: Stage, second: Stage, third: Stage): Stage =>
  (emit) =>
    first(second(third(emit)))

interface PendingError {
  error: CanonicalError
  send(error: CanonicalError): void
}

const toEndError = ({ status, code, source }: CanonicalError): StreamError =>
  source ?? (code === MALFORMED_CALL ? { status, class: 'content' } : toStreamError({ status, code }))

/** Returns whether the provider itself ended the stream. */
const isFromProvider = ({ source, code }: CanonicalError): boolean => source !== undefined || code === MALFORMED_CALL

const NO_CHUNKS: readonly Uint8Array[] = []

/** The length after which further events go into another string, and into another chunk. */
const MAX_BUFFERED_CHARACTERS = 1024 * 1024
