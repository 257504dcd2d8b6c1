import type { JsonObject } from '../lib/json.ts'
import type { SseEvent, StreamFraming } from '../lib/sse.ts'
import type { AuthStyle, ProviderFormat, WireFormat } from '../types.ts'
import type { CompactionWish } from './canonical/request.ts'
import type { TokenUsage } from './canonical/usage.ts'
import type { Endpoint } from './endpoint.ts'
import type { ModelsTelling } from './models-telling.ts'
import type { Translator, UpstreamTranslator } from './translator.ts'

export type { TokenUsage } from './canonical/usage.ts'

/** The parts of an error that every format has. `code` is the gateway's or the provider's. */
export interface ErrorFacts {
  status: number
  code: string
  message: string
  /** The field of the request that is at fault, if known. */
  param?: string | undefined
}

/** An error in an answer of status 200. */
export interface EmbeddedError {
  message: string
  /** The HTTP status it stands for. */
  status: number
  /** The provider's error, unchanged. */
  error?: unknown
  /** Set when only this answer is unusable, which says nothing about the provider. */
  class?: 'content'
}

/** How far a stream has come, for formats whose error events continue it. */
export interface StreamPlace {
  /** The sequence number of the last event. */
  sequence?: number | undefined
  /** The response that the stream belongs to. */
  response?: JsonObject | undefined
  /** The provider's own error event, if the client has got one. */
  passedError?: SseEvent | undefined
}

/** The state of a stream, which decides on its commit, its end and its accounting. */
export interface StreamState {
  /** Has some content of the answer arrived? */
  started: boolean
  /** Has a finish reason arrived, so that the end of the stream is a normal one? */
  ended: boolean
  /** Has the format's last event arrived, so that a connection error no longer matters? */
  closed: boolean
  error: EmbeddedError | undefined
  usage: TokenUsage | undefined
  place?: StreamPlace
}

/** Follows a stream by its events; may be given only the first and the last ones. */
export interface StreamWatch extends Readonly<StreamState> {
  observe(event: SseEvent): void
}

/** The state of a stream before its first event. */
export const untouchedStream = (): StreamState => ({
  started: false,
  ended: false,
  closed: false,
  error: undefined,
  usage: undefined,
})

/** What the pipeline knows about a provider's format. */
export interface UpstreamFormat {
  readonly name: ProviderFormat
  /** The header for credentials, unless the provider has another. */
  readonly auth: AuthStyle
  /** Headers for requests in which the client has not sent them. */
  readonly defaultHeaders: Readonly<Record<string, string>>
  /** How its streams are divided into events; default: server-sent events. */
  readonly framing?: StreamFraming
  /** Do its providers stream a JSON array where they know of no events? */
  readonly streamsArrays?: true
  watchStream(): StreamWatch
  /** The tokens of a whole answer (parsed JSON). */
  usageOf(answer: unknown): TokenUsage | undefined
  /** The error in a whole answer, if it is one. */
  errorIn(answer: unknown): EmbeddedError | undefined
  /** Is it a whole answer, even an empty one with a reason? */
  isAnswer(answer: JsonObject): boolean
  /** Loads how failures and empty answers are read; only needed when a call has failed, or its answer may be empty. */
  loadFailures(): Promise<FailureReading>
  /** Loads the translation to and from the canonical form. */
  loadTranslator(): Promise<UpstreamTranslator>
}

/** How a format's failures and empty answers are read. */
export interface FailureReading {
  /** Message and code of an error body, each only if it has one. */
  read(body: unknown): { message?: string; code?: string }
  /** The body that a provider would have sent with this error status, for an error object found in a 200 or in a stream. */
  bodyOf(error: JsonObject, status: number): JsonObject
  /** Does an error body refuse to count the tokens of any request for this model, or this client? */
  saysNoCounter?(body: unknown): boolean
  /**
   * Is the answer empty: did the model end its turn normally, or for no reason that it says, without a text, a call, a thought or a
   * refusal? An answer that was cut short or filtered is not, as it says why.
   */
  isBlank(answer: JsonObject): boolean
}

/** How a format's clients are told of errors. */
export interface ErrorTelling {
  /** The body of an error answer, as a JSON value. */
  body(error: ErrorFacts): object
  /** Whole server-sent events that end a stream with an error; `place` is where it broke off. */
  event(error: ErrorFacts, place?: StreamPlace): string
  /** Can clients read this error body of a provider as it is? */
  isReadable(body: unknown): boolean
  /** Do clients take this event of a provider's stream for an error? */
  isErrorEvent(event: SseEvent): boolean
}

/** How the usage of a stream is asked for, where providers tell it only then. */
export interface UsageQuestion {
  /** Does this request leave it open, so that it can be asked in the client's place? */
  isOpen(request: JsonObject): boolean
  /** The body of such a request with the question in it; every other character stays. */
  ask(body: string): string
  /** Is this the event that tells the usage and nothing else, which clients expect only if they have asked? */
  isAnswer(event: SseEvent): boolean
}

/** How the clients of a format are known, where that is not by the endpoint that they call. */
export interface ClientSigns {
  /** The paths that only they call, whether something is there or not. */
  readonly paths?: RegExp
  /** Headers of which they send one, for paths that several formats share. */
  readonly headers: readonly string[]
}

/** What the gateway knows about a client's format. */
export interface Format extends UpstreamFormat {
  readonly name: WireFormat
  /** Where its clients send model requests. */
  readonly endpoints: readonly Endpoint[]
  readonly clientSigns: ClientSigns
  /** Loads the form of errors, while the first request is under way. */
  loadErrors(): Promise<ErrorTelling>
  /** Loads how its clients are told which models there are. */
  loadModels(): Promise<ModelsTelling>
  /** The header in which clients look for the provider's id of the request. */
  readonly requestIdHeader: string
  /** A sign of life that clients ignore in a stream. */
  readonly keepAlive: string
  /**
   * Makes a filter for the whole events of a stream that is passed through. It returns the same bytes, except where clients would throw at
   * them. Absent where providers send nothing of that kind.
   */
  createKeeper?(): (events: Uint8Array) => Uint8Array
  /** The member of a request that providers refuse unless a stream is asked for. */
  readonly streamMember?: string
  /** The ids by which a request refers to items of earlier answers; only where clients can leave out the items themselves. */
  referencesIn?(request: { text: string; body: JsonObject }): readonly string[]
  /** Is a conversation to be compacted, and when? Only where clients can ask for it in a request for an answer. */
  compactionIn?(request: JsonObject): CompactionWish | undefined
  /** The body of a request to count tokens, for another model; only where it names the model in more places than one. */
  countBody?(text: string, model: string): Promise<string>
  /** Loads how the usage of streams is asked for; only where it is not always told. */
  loadUsageQuestion?(): Promise<UsageQuestion>
  loadTranslator(): Promise<Translator>
}
