import type { JsonObject } from '../lib/json.ts'
import type { SseEvent } from '../lib/sse.ts'
import type { OptionName, Traits } from '../traits.ts'
import type { ProviderFormat } from '../types.ts'
import type { Answer, TokenUsage } from './canonical/answer.ts'
import type { CanonicalError } from './canonical/errors.ts'
import type { CanonicalRequest } from './canonical/request.ts'
import type { Origin } from './canonical/state.ts'
import type { ReaderEvent, StreamEvent } from './canonical/stream.ts'
import type { ResponseWarnings, Warnings } from './canonical/warnings.ts'

/**
 * The translations between the canonical form and a format that providers speak. All functions are synchronous and stateless; ids, the time
 * and facts about the target are arguments.
 */
export interface UpstreamTranslator {
  /** The traits of the format's own vendor; those of other vendors and models are stated as differences from them. */
  readonly traits: Traits
  /** The options that the format has a field for; others never reach `writeRequest`. */
  readonly carries: ReadonlySet<OptionName>
  /** The format's names of the canonical fields, as warnings for clients and refusals of providers use them. */
  readonly fieldNames?: Readonly<Record<string, string>>
  /** Do its providers hide the model's reasoning unless a request asks for it? */
  readonly hidesReasoning?: boolean
  /** Writes a request that `prepareRequest` has prepared for the same target. */
  writeRequest(request: CanonicalRequest, target: TargetContext): WrittenRequest
  /** Parses a provider's whole answer. Throws `UPSTREAM_INVALID` if the body is not an answer. */
  parseAnswer(body: JsonObject, context: ReadContext): Answer
  /** The whole answer that the last events of a stream repeat; only for formats whose streams do. */
  answerInStream?(events: readonly SseEvent[]): JsonObject | undefined
  /** Creates a reader of a provider's stream; the reader calls `emit` with each event. */
  createReader(context: ReadContext, emit: (event: ReaderEvent) => void): StreamReader
  /** Counts the tokens of a request; absent if the format has no such request. */
  readonly counter?: UpstreamCounter
  /** Parses a provider's error answer (`parseProviderError` also reads bodies of other forms). */
  parseError(answer: ErrorAnswer): CanonicalError
}

/** How a provider counts the tokens of a request. */
interface UpstreamCounter {
  writeRequest(request: CanonicalRequest, target: TargetContext): WrittenRequest
  /** The count in a provider's answer; `undefined` if it holds none. */
  parseCount(body: JsonObject): number | undefined
}

/** An `UpstreamCounter` of a format that also has clients. */
interface Counter extends UpstreamCounter {
  /** Parses a client's request to count tokens; only if it differs from a request for an answer. */
  parseRequest?(body: JsonObject, context: ParseContext): CanonicalRequest
  /** Writes the count for a client. */
  writeCount(tokens: number): JsonObject
}

/** The translations between the canonical form and a format that clients speak. As synchronous and stateless as those above. */
export interface ClientTranslator {
  /** The format's names of the canonical fields, as warnings for clients use them. */
  readonly fieldNames: Readonly<Record<string, string>>
  readonly counter?: Counter
  /** Do its clients see the reasoning for which a request sets a budget, unless the request hides it? */
  readonly showsBudgetedReasoning?: boolean
  /**
   * Parses a client's request. Throws `INVALID_REQUEST`, naming the field, if it is malformed or if no other format can express it.
   */
  parseRequest(body: JsonObject, context: ParseContext): CanonicalRequest
  /** Writes a whole answer for a client. */
  writeAnswer(answer: Answer, context: WriteContext): JsonObject
  /** Writes the whole answer to a request for a compaction; `body`: the request's. Absent if clients cannot ask for compactions. */
  writeCompaction?(answer: Answer, context: WriteContext, body: JsonObject): JsonObject
  /** Creates a writer of a client's stream; the writer calls `write` with one whole server-sent event at a time. */
  createWriter(context: WriteContext, write: (event: string) => void): StreamWriter
  /** Writes an error answer for a client. */
  writeError(error: CanonicalError): { status: number; headers: Record<string, string>; body: JsonObject }
  /** Parses an error answer that clients cannot read as it is. */
  parseError(answer: ErrorAnswer): CanonicalError
}

/** The translations between the canonical form and a format that both clients and providers speak. */
export interface Translator extends UpstreamTranslator, ClientTranslator {
  readonly fieldNames: Readonly<Record<string, string>>
  /** Where requests have the options that entries of combos set, each under all names of the format; `.` before a member. */
  readonly optionPlaces: Readonly<Partial<Record<OptionName, readonly string[]>>>
  readonly counter?: Counter
}

/** The inputs for parsing a client's request, in addition to its body. */
export interface ParseContext {
  warnings: Warnings
  /** The API version in the request's header or path, if the format has one (Anthropic: `2026-10-21`, AI SDK: `4`). */
  version?: string
  /** The format of the target, for requests that name a file by its ids at several vendors. */
  targetFormat?: ProviderFormat
  /** The facts in the path, for formats whose paths have some (Gemini); `isArray`: the stream is a JSON array, not events. */
  route?: { model: string; stream: boolean; isArray?: boolean }
  /** Does the client ask for a compaction instead of an answer? */
  isCompaction?: boolean
  /** The item that this gateway has sent to the client under an id, if the gateway still remembers it. */
  itemOf?(id: string): JsonObject | undefined
}

/** The target of a request, and what it accepts. */
export interface TargetContext {
  /** The provider's own name of the model. */
  model: string
  traits: Traits
  /** The origin of the opaque state that the target may receive. */
  origin: Origin
  warnings: Warnings
}

/** A request for the provider; the pipeline adds host and credential. */
export interface WrittenRequest {
  /** The path below the provider's base URL, with its query: `/chat/completions`, `/models/m:streamGenerateContent?alt=sse`. */
  path: string
  /** Added to the format's `defaultHeaders`; a header of the same name replaces the default one. */
  headers: Record<string, string>
  body: JsonObject
}

/** The inputs for parsing a provider's answer, in addition to the answer. */
export interface ReadContext {
  /** The origin of all opaque state in the answer. */
  origin: Origin
  traits: Traits
  /** A random id of 24 letters and digits, without a prefix. */
  newId(): string
  /** Collects what the canonical form cannot express. */
  responseWarnings: ResponseWarnings
  /** Has the request tools that run at the target, whose calls and results the client gets? */
  hasHosted?: boolean
}

/** The inputs for writing an answer for a client, in addition to the answer. */
export interface WriteContext {
  /** The client's request, as `parseRequest` returned it. */
  request: CanonicalRequest
  /** The name of the model that the client sees. */
  model: string
  newId(): string
  /** Unix time in seconds. */
  now: number
  /** Collects what the client's format cannot express. */
  responseWarnings: ResponseWarnings
  /** What the translation of the request has lost, such as `dropped:seed`. */
  requestWarnings?(): readonly string[]
  /** A description of the answer for formats that have a place for it: the target that answered, the earlier attempts, and the cost of this usage. */
  describe?(usage: TokenUsage | undefined): JsonObject
  /** Remembers an item of the answer as JSON; only for formats whose clients refer to items by their ids. */
  keepItem?(id: string, json: string): void
  /**
   * The writer of a stream calls it once all losses are known: before the last event, or before the error that ends the stream. Writers
   * whose clients take comments for events do not call it.
   */
  beforeEnd?(): void
}

/** A provider's error answer. */
export interface ErrorAnswer {
  status: number
  /** The body: parsed JSON, or the text if it is not JSON. */
  body: unknown
  header(name: string): string | undefined
  /** Unix time in milliseconds. */
  now: number
}

/** Reads one stream of a provider. For an event that is not JSON it emits `unreadable`. */
export interface StreamReader {
  observe(event: SseEvent): void
  /** Ends the stream and emits what the reader has held back. `createSequence` decides whether the end is a normal one. */
  end(): void
}

/** Writes one stream for a client. */
export interface StreamWriter {
  push(event: StreamEvent): void
  /** Takes the data of a provider's event before its translation; only where the client wants it. */
  pushRaw?(data: string): void
  /** A server-sent event or comment that keeps a silent stream open; may be sent at any time. */
  keepAlive(): string
  /** The content type, if it is not `text/event-stream`. */
  readonly contentType?: string
}
