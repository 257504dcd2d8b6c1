import type { JsonObject } from '../lib/json.ts'
import type { SseEvent } from '../lib/sse.ts'
import type { OptionName, Traits } from '../traits.ts'
import type { Answer } from './canonical/answer.ts'
import type { CanonicalError } from './canonical/errors.ts'
import type { CanonicalRequest } from './canonical/request.ts'
import type { Origin } from './canonical/state.ts'
import type { ReaderEvent, StreamEvent } from './canonical/stream.ts'
import type { Warnings } from './canonical/warnings.ts'

/**
 * How a provider's format is spoken: its half of every translation. All functions are synchronous and keep nothing between calls;
 * identifiers, time and facts about the target are given.
 */
export interface UpstreamTranslator {
  /** What the format takes where neither vendor nor model says otherwise. */
  readonly traits: Traits
  /** Options that the format has a place for. Others never reach `writeRequest`. */
  readonly carries: ReadonlySet<OptionName>
  /** Do its providers keep their thoughts to themselves unless they are asked to show them? */
  readonly keepsThoughts?: boolean
  /** A request as this format's provider wants it. It has been through `prepareRequest` for the same target. */
  writeRequest(request: CanonicalRequest, target: TargetContext): WrittenRequest
  /** A provider's whole answer. Throws `UPSTREAM_INVALID` when it is none. */
  parseAnswer(body: JsonObject, context: ReadContext): Answer
  /** Reads a provider's stream event by event. */
  createReader(context: ReadContext, emit: (event: ReaderEvent) => void): StreamReader
  /** Absent where the format has no way to ask for the tokens of a request. */
  readonly counter?: UpstreamCounter
  /** A provider's error answer (`parseVendorError` knows the envelopes that are not the format's own). */
  parseError(answer: ErrorAnswer): CanonicalError
}

/** How a provider is asked how many tokens a request has. */
export interface UpstreamCounter {
  writeRequest(request: CanonicalRequest, target: TargetContext): WrittenRequest
  /** `undefined` when the answer holds no count. */
  parseCount(body: JsonObject): number | undefined
}

/** The same for clients as well. */
export interface Counter extends UpstreamCounter {
  /** A client's question, where it is something else than a request. */
  parseRequest?(body: JsonObject, context: ParseContext): CanonicalRequest
  /** A count as a client reads it. */
  writeCount(tokens: number): JsonObject
}

/** One wire format's half of every translation, for clients as well: from it to the canonical form and back. */
export interface Translator extends UpstreamTranslator {
  /** What clients of the format call the canonical fields, for warnings and refusals. */
  readonly fieldNames: Readonly<Record<string, string>>
  readonly counter?: Counter
  /** Are its clients shown the thoughts that a request has a budget for, unless they want none of them? */
  readonly expectsThoughts?: boolean
  /** A client's request. Throws `INVALID_REQUEST` naming the field for what is malformed, and for what no other format could mean. */
  parseRequest(body: JsonObject, context: ParseContext): CanonicalRequest
  /** An answer as this format's client reads it. */
  writeAnswer(answer: Answer, context: WriteContext): JsonObject
  /** Writes a client's stream; each call of `write` is one whole server-sent event. */
  createWriter(context: WriteContext, write: (event: string) => void): StreamWriter
  /** An error as this format's client reads it. */
  writeError(error: CanonicalError): { status: number; headers: Record<string, string>; body: JsonObject }
}

/** What a client's request comes with besides its body. */
export interface ParseContext {
  warnings: Warnings
  /** The version of the API that the client asks for in a header, where the format has one (Anthropic: `2026-10-21`). */
  version?: string
  /** What the path says, where the format has it there (Gemini); `isArray`: its stream is to be one JSON array, not events. */
  route?: { model: string; stream: boolean; isArray?: boolean }
}

/** Where a request goes, and what can be said there. */
export interface TargetContext {
  /** The provider's own name of the model. */
  model: string
  traits: Traits
  /** Whose opaque state may go there. */
  origin: Origin
  warnings: Warnings
}

/** A request as it is sent; the pipeline adds host and credential. */
export interface WrittenRequest {
  /** Below the provider's base URL, with its query: `/chat/completions`, `/models/m:streamGenerateContent?alt=sse`. */
  path: string
  /** Beside the format's `defaultHeaders`, which they replace. */
  headers: Record<string, string>
  body: JsonObject
}

/** What reading a provider's answer takes besides. */
export interface ReadContext {
  /** Where the answer comes from: the origin of all opaque state in it. */
  origin: Origin
  traits: Traits
  /** A random identifier of 24 letters and digits, without a prefix. */
  newId(): string
  /** What is lost after the headers have gone is collected all the same. */
  warnings: Warnings
}

/** What writing a client's answer takes besides. */
export interface WriteContext {
  /** What the client asked, as `parseRequest` understood it. */
  request: CanonicalRequest
  /** The name of the model to show to the client. */
  model: string
  newId(): string
  /** Unix time in seconds. */
  now: number
}

/** A provider's answer whose status is no success. */
export interface ErrorAnswer {
  status: number
  /** Its JSON; its text when it is none. */
  body: unknown
  header(name: string): string | undefined
  /** Unix time in milliseconds. */
  now: number
}

/** Reads one stream of a provider; an event that is no JSON is told as `unreadable`. */
export interface StreamReader {
  observe(event: SseEvent): void
  /** The stream is over: tells what was held back. `createSequence` judges whether the end is a good one. */
  end(): void
}

/** Writes one stream for a client. */
export interface StreamWriter {
  push(event: StreamEvent): void
  /** One whole server-sent event or comment that says only that the answer is still coming; right at any time. */
  keepAlive(): string
  /** What is written, if it is something else than server-sent events. */
  readonly contentType?: string
}
