import type { JsonObject } from '../lib/json.ts'
import type { SseEvent } from '../lib/sse.ts'
import type { OptionName, Traits } from '../traits.ts'
import type { Answer } from './canonical/answer.ts'
import type { CanonicalError } from './canonical/errors.ts'
import type { Losses } from './canonical/losses.ts'
import type { CanonicalRequest } from './canonical/request.ts'
import type { Origin } from './canonical/state.ts'
import type { ReaderEvent, StreamEvent } from './canonical/stream.ts'
import type { Warnings } from './canonical/warnings.ts'

/**
 * The provider's half of the translations of one format. All functions are synchronous and stateless; ids, time and facts about the target
 * are arguments.
 */
export interface UpstreamTranslator {
  /** The traits of the format, for vendors and models that do not differ. */
  readonly traits: Traits
  /** The options that the format has a field for; others never reach `writeRequest`. */
  readonly carries: ReadonlySet<OptionName>
  /** The format's names of the canonical fields, by which a client's warnings and a provider's refusals name them. */
  readonly fieldNames?: Readonly<Record<string, string>>
  /** Do its providers hide thoughts unless asked to show them? */
  readonly keepsThoughts?: boolean
  /** Writes a request that `prepareRequest` has prepared for the same target. */
  writeRequest(request: CanonicalRequest, target: TargetContext): WrittenRequest
  /** Parses a provider's whole answer. Throws `UPSTREAM_INVALID` when it is none. */
  parseAnswer(body: JsonObject, context: ReadContext): Answer
  /** The whole answer as the end of a stream tells it, word for word; only where the format's streams end so. */
  answerIn?(events: readonly SseEvent[]): JsonObject | undefined
  /** Makes a reader of a provider's stream; `emit` is called with each event. */
  createReader(context: ReadContext, emit: (event: ReaderEvent) => void): StreamReader
  /** Counts the tokens of a request; absent where the format has no request for it. */
  readonly counter?: UpstreamCounter
  /** Parses a provider's error answer (`parseVendorError` reads bodies that are not the format's own). */
  parseError(answer: ErrorAnswer): CanonicalError
}

/** How a provider counts the tokens of a request. */
export interface UpstreamCounter {
  writeRequest(request: CanonicalRequest, target: TargetContext): WrittenRequest
  /** The count in an answer; `undefined` when it has none. */
  parseCount(body: JsonObject): number | undefined
}

/** The same, and how a client asks for it. */
export interface Counter extends UpstreamCounter {
  /** Parses a client's question, where it differs from a request. */
  parseRequest?(body: JsonObject, context: ParseContext): CanonicalRequest
  /** The answer to a client's question. */
  writeCount(tokens: number): JsonObject
}

/** The translations of a client's format: from it to the canonical form and back. */
export interface Translator extends UpstreamTranslator {
  readonly fieldNames: Readonly<Record<string, string>>
  readonly counter?: Counter
  /** Are its clients shown the thoughts that a request has a budget for, unless they want none of them? */
  readonly expectsThoughts?: boolean
  /**
   * Parses a client's request. Throws `INVALID_REQUEST` naming the field for what is malformed, and for what no other format can express.
   */
  parseRequest(body: JsonObject, context: ParseContext): CanonicalRequest
  /** Writes a whole answer for a client. */
  writeAnswer(answer: Answer, context: WriteContext): JsonObject
  /** Writes the whole answer to a request for a compaction, whose body is given; absent where clients cannot ask for one. */
  writeCompaction?(answer: Answer, context: WriteContext, asked: JsonObject): JsonObject
  /** Makes a writer of a client's stream; each call of `write` has one whole server-sent event. */
  createWriter(context: WriteContext, write: (event: string) => void): StreamWriter
  /** Writes an error answer for a client. */
  writeError(error: CanonicalError): { status: number; headers: Record<string, string>; body: JsonObject }
}

/** The parts of a client's request outside its body. */
export interface ParseContext {
  warnings: Warnings
  /** The API version in the request's header, where the format has one (Anthropic: `2026-10-21`). */
  version?: string
  /** The parts of the path, where the format has some (Gemini); `isArray`: the stream is a JSON array, not events. */
  route?: { model: string; stream: boolean; isArray?: boolean }
  /** Is a compaction asked for, rather than an answer? */
  isCompaction?: boolean
  /** The item that this gateway answered under an id, as it was answered, if it is remembered. */
  itemOf?(id: string): JsonObject | undefined
}

/** The target of a request, and what it accepts. */
export interface TargetContext {
  /** The provider's own name of the model. */
  model: string
  traits: Traits
  /** The origin of the opaque state that may be sent there. */
  origin: Origin
  warnings: Warnings
}

/** A request for the provider; the pipeline adds host and credential. */
export interface WrittenRequest {
  /** The path below the provider's base URL, with its query: `/chat/completions`, `/models/m:streamGenerateContent?alt=sse`. */
  path: string
  /** Beside the format's `defaultHeaders`, which they replace. */
  headers: Record<string, string>
  body: JsonObject
}

/** What readers need besides the answer. */
export interface ReadContext {
  /** The origin of all opaque state in the answer. */
  origin: Origin
  traits: Traits
  /** A random id of 24 letters and digits, without a prefix. */
  newId(): string
  /** Of what has no place in the canonical form. */
  losses: Losses
}

/** What writers need besides the answer. */
export interface WriteContext {
  /** The client's request, as `parseRequest` returned it. */
  request: CanonicalRequest
  /** The model name for the client. */
  model: string
  newId(): string
  /** Unix time in seconds. */
  now: number
  /** Of what has no place in the client's format. */
  losses: Losses
  /** Remembers an item of the answer, as its JSON, for clients of formats that refer to items by their ids. */
  keepItem?(id: string, json: string): void
  /**
   * Called by the writer of a stream before its last event, or before the error that ends it, when all losses are known; not by one whose
   * clients take comments for events.
   */
  beforeEnd?(): void
}

/** A provider's error answer. */
export interface ErrorAnswer {
  status: number
  /** Its body as JSON, or as text when it is none. */
  body: unknown
  header(name: string): string | undefined
  /** Unix time in milliseconds. */
  now: number
}

/** Reads one stream of a provider; an event that is no JSON is emitted as `unreadable`. */
export interface StreamReader {
  observe(event: SseEvent): void
  /** Ends the stream and emits what was held back. `createSequence` decides whether the end is a normal one. */
  end(): void
}

/** Writes one stream for a client. */
export interface StreamWriter {
  push(event: StreamEvent): void
  /** A whole server-sent event or comment as a sign of life; valid at any time. */
  keepAlive(): string
  /** The content type, if it is not that of server-sent events. */
  readonly contentType?: string
}
