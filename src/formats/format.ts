import type { SseEvent } from '../lib/sse.ts'
import type { AuthStyle, WireFormat } from '../types.ts'

/** Tokens of one answer. Input counts include what was read from or written to a cache. */
export interface TokenUsage {
  inputTokens: number
  outputTokens: number
  cacheReadTokens?: number
  cacheWriteTokens?: number
  reasoningTokens?: number
}

/** What an error says in every format. `code` is the gateway's or the provider's. */
export interface ErrorFacts {
  status: number
  code: string
  message: string
}

/** An error that a provider put into an answer of status 200. */
export interface EmbeddedError {
  message: string
  /** The HTTP status it stands for. */
  status: number
}

/** Follows a stream's events and remembers what decides over commit, end and accounting. It may be shown only the first and last ones. */
export interface StreamWatch {
  observe(event: SseEvent): void
  /** Something of the answer itself has arrived. */
  readonly started: boolean
  /** The answer is complete: a finish reason has arrived, so that the end of the stream is a normal end. */
  readonly ended: boolean
  /** The format's very last event has arrived, so that nothing that happens to the connection matters any more. */
  readonly closed: boolean
  readonly error: EmbeddedError | undefined
  readonly usage: TokenUsage | undefined
}

/** Everything the pipeline knows about one wire format. */
export interface Format {
  readonly name: WireFormat
  /** How providers of this format want their credential unless they say otherwise. */
  readonly auth: AuthStyle
  /** Headers that a request needs when the client has not sent them. */
  readonly defaultHeaders: Readonly<Record<string, string>>
  /** The error envelope, as a JSON value. */
  errorBody(error: ErrorFacts): object
  /** One whole server-sent event that ends a stream with an error. */
  errorEvent(error: ErrorFacts): string
  watchStream(): StreamWatch
  /** Usage of a whole answer, as parsed JSON. */
  usageOf(answer: unknown): TokenUsage | undefined
  /** An error that stands where an answer should (a 200 that holds one). */
  errorIn(answer: unknown): EmbeddedError | undefined
  /** What an error body of this format says: message and code. */
  readError(body: unknown): { message?: string; code?: string }
}
