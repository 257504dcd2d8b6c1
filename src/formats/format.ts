import type { JsonObject } from '../lib/json.ts'
import type { SseEvent, StreamFraming } from '../lib/sse.ts'
import type { AuthStyle, ProviderFormat, WireFormat } from '../types.ts'
import type { TokenUsage } from './canonical/usage.ts'
import type { Translator, UpstreamTranslator } from './translator.ts'

export type { TokenUsage } from './canonical/usage.ts'

/** What an error says in every format. `code` is the gateway's or the provider's. */
export interface ErrorFacts {
  status: number
  code: string
  message: string
  /** The field of the request that is at fault, where it is known. */
  param?: string | undefined
}

/** An error that a provider put into an answer of status 200. */
export interface EmbeddedError {
  message: string
  /** The HTTP status it stands for. */
  status: number
  /** As the provider has sent it. */
  error?: unknown
  /** Only this answer is no good, which says nothing of who has sent it. */
  class?: 'content'
}

/** What the events of a stream have in common, where the format gives them something. */
export interface StreamPlace {
  /** The number of the last event that was seen. */
  sequence?: number | undefined
  /** Who answers. */
  response?: JsonObject | undefined
}

/** What decides over a stream's commit, its end and its accounting. */
export interface StreamState {
  /** Something of the answer itself has arrived. */
  started: boolean
  /** The answer is complete: a finish reason has arrived, so that the end of the stream is a normal end. */
  ended: boolean
  /** The format's very last event has arrived, so that nothing that happens to the connection matters any more. */
  closed: boolean
  error: EmbeddedError | undefined
  usage: TokenUsage | undefined
  place?: StreamPlace
}

/** Follows a stream by its events; it may be shown only the first and last ones. */
export interface StreamWatch extends Readonly<StreamState> {
  observe(event: SseEvent): void
}

/** Of a stream nothing of which has been seen. */
export const untouchedStream = (): StreamState => ({
  started: false,
  ended: false,
  closed: false,
  error: undefined,
  usage: undefined,
})

/** What the pipeline knows about a format that providers speak. */
export interface UpstreamFormat {
  readonly name: ProviderFormat
  /** How providers of this format want their credential unless they say otherwise. */
  readonly auth: AuthStyle
  /** Headers that a request needs when the client has not sent them. */
  readonly defaultHeaders: Readonly<Record<string, string>>
  /** How its streams are divided into events; absent: they are server-sent ones. */
  readonly framing?: StreamFraming
  watchStream(): StreamWatch
  /** Usage of a whole answer, as parsed JSON. */
  usageOf(answer: unknown): TokenUsage | undefined
  /** An error that stands where an answer should (a 200 that holds one). */
  errorIn(answer: unknown): EmbeddedError | undefined
  /** Does a whole answer hold anything of an answer, be it only the reason why it says nothing? */
  isAnswer(answer: JsonObject): boolean
  /** To and from the canonical form, loaded when the first request needs it; absent while the format is only passed through. */
  loadTranslator?(): Promise<UpstreamTranslator>
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

/** Everything the pipeline knows about a format that clients speak as well. */
export interface Format extends UpstreamFormat {
  readonly name: WireFormat
  /** How errors are told, loaded while the first request is under way. */
  loadErrors(): Promise<ErrorTelling>
  /** What clients pass over in a stream, to be sent while there is nothing to say. */
  readonly keepAlive: string
  loadTranslator?(): Promise<Translator>
}
