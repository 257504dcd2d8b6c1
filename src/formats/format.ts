import type { JsonObject } from '../lib/json.ts'
import { withMember } from '../lib/json-scan.ts'
import { entryOf } from '../lib/maps.ts'
import type { FormFile } from '../lib/multipart.ts'
import type { SseEvent, StreamFraming } from '../lib/sse.ts'
import type { Traits } from '../traits.ts'
import type { AuthStyle, ClientFormat, ProviderFormat, WireFormat } from '../types.ts'
import type { TokenUsage } from './canonical/answer.ts'
import type { EmbeddedError } from './canonical/errors.ts'
import type { CompactionMode } from './canonical/request.ts'
import { type Operation, type OperationName, operations } from './operations.ts'
import type { ClientTranslator, Translator, UpstreamTranslator } from './translator.ts'

export type { TokenUsage } from './canonical/answer.ts'
export type { EmbeddedError } from './canonical/errors.ts'

/** The parts of an error that every format can express. `code` is the gateway's or the provider's. */
export interface ErrorFacts {
  status: number
  code: string
  message: string
  /** The field of the request that is at fault, if known. */
  param?: string | undefined
  /** The model that the request names in its headers. */
  model?: string | undefined
  /** After how many seconds another request may help, if known. */
  retryAfter?: string | undefined
}

/** How far a stream has come, for formats whose error events refer to the events before. */
export interface StreamPosition {
  /** The sequence number of the last event. */
  sequence?: number | undefined
  /** The response that the stream belongs to. */
  response?: JsonObject | undefined
  /** The provider's own error event, if it has been sent to the client. */
  passedError?: SseEvent | undefined
}

/** What the events of a stream have shown so far; its commit, its end and its accounting depend on it. */
interface StreamProgress {
  /** Has content of the answer arrived? */
  started: boolean
  /** Has a finish reason arrived, so that the stream may end normally? */
  ended: boolean
  /** Has the format's last event arrived, so that a connection error no longer matters? */
  closed: boolean
  error: EmbeddedError | undefined
  usage: TokenUsage | undefined
  /** Is `usage` preliminary, from the beginning of the stream, and will the end report more? */
  hasBegunUsage?: boolean
  place?: StreamPosition
}

/** Follows a stream by its events. The caller may leave out events between the first and the last ones. */
export interface StreamState extends Readonly<StreamProgress> {
  observe(event: SseEvent): void
}

/** The progress of a stream before its first event. */
export const newStreamProgress = (): StreamProgress => ({
  started: false,
  ended: false,
  closed: false,
  error: undefined,
  usage: undefined,
})

/** What the pipeline knows about a provider's format. */
export interface UpstreamFormat {
  readonly name: ProviderFormat
  /** The header for credentials, unless the provider's definition names another. */
  readonly auth: AuthStyle
  /** Headers that are added to requests in which the client has not set them. */
  readonly defaultHeaders: Readonly<Record<string, string>>
  /** How its streams are divided into events; default: server-sent events. */
  readonly framing?: StreamFraming
  /** Do its providers send streams as a JSON array, unless events are requested? */
  readonly streamsArrays?: true
  /** How its providers answer, by operation. What is absent they do not have. */
  readonly answers: Readonly<Partial<Record<OperationName, AnswerReader>>>
  readonly errors: ErrorReader
  /** Loads the translation to and from the canonical form. */
  loadTranslator(): Promise<UpstreamTranslator>
}

/** Reads the answers of providers to one operation. */
export interface AnswerReader {
  /** Is the body an answer? An empty one with a finish reason is. */
  isAnswer(answer: JsonObject): boolean
  /** What an object lacks that is no answer, in words; default: anything at all. */
  needs?(answer: JsonObject): string | undefined
  /** The name of the member that an array is read as, where answers may be arrays. */
  readonly arraysAs?: string
  /** The name of the member that a text is read as which is no JSON by its content type, where answers may be plain text. */
  readonly textAs?: string
  /** The name of the member that the bytes of an image or of sound are read as, in base64, beside their `type`, where answers may be such. */
  readonly bytesAs?: string
  /**
   * Does this content type mean an answer in bytes, such as sound? Where this function is present, all answers are in bytes, and a body of any other
   * content type is an error.
   */
  isInBytes?(contentType: string): boolean
  /** Reads an answer's text for less than it costs to parse; `undefined` where it has to be parsed. */
  skim?(text: string): JsonObject | undefined
  /**
   * Is the answer empty: has the model ended its turn normally, or without a finish reason, with no text, call, reasoning or refusal? An
   * answer that was cut or filtered is not empty, since its finish reason explains it. Absent: an answer is never empty.
   */
  isEmpty?(answer: JsonObject): boolean
  /** The error that a whole answer holds, if it holds one. */
  errorIn(answer: unknown): EmbeddedError | undefined
  /** The usage of a whole answer (parsed JSON), which a few vendors report in its headers. */
  usageOf(answer: unknown, header?: (name: string) => string | undefined): TokenUsage | undefined
  /** Follows a stream: when it has begun for good, so that no other target is tried any more (`started`), its end, and its usage. */
  watchStream(): StreamState
  /** Is this a whole event of an answer, as its bytes show? Some others pass, too. */
  isOwnEvent(event: Uint8Array): boolean
  /** Is the answer put together from events where a provider streams without being asked? */
  readonly gathersEvents: boolean
  /** The members that hold what the model says, its tool calls included; absent where it says nothing. */
  readonly said?: SaidIn
}

/** Names of members of a whole answer, and of the events of a stream, each of which says something new. */
export interface SaidIn {
  readonly whole: readonly string[]
  readonly streamed: readonly string[]
}

/** The same members in both. */
export const saidIn = (...names: readonly string[]): SaidIn => ({ whole: names, streamed: names })

/** How the answers of providers that speak a format are read when they are asked for this. Throws where they have no such endpoint. */
export function answersOf({ name, answers }: UpstreamFormat, operation: Operation): AnswerReader {
  const reader = entryOf<AnswerReader>(answers, operation.name)
  if (!reader) throw new TypeError(`The format ${name} has no answers to ${operation.name}.`)
  return reader
}

/** How the answers to a request for tokens are read: any JSON object with a number of tokens will do. */
export const countsLike = ({ said: _, ...answers }: AnswerReader): AnswerReader => ({
  ...answers,
  isAnswer: (answer) =>
    Object.entries(answer).some(([name, value]) => typeof value === 'number' && /tokens$/i.test(name)),
  needs: () => 'a number of tokens',
  isEmpty: () => false,
  gathersEvents: false,
})

/** How answers are read to what is never streamed. */
export const wholeAnswers = (
  reader: Pick<
    AnswerReader,
    'isAnswer' | 'needs' | 'arraysAs' | 'textAs' | 'bytesAs' | 'skim' | 'errorIn' | 'usageOf' | 'said'
  >,
): AnswerReader => ({
  ...reader,
  watchStream: () => ({ ...newStreamProgress(), observe() {} }),
  isOwnEvent: () => false,
  gathersEvents: false,
})

/** Reads a format's errors. */
export interface ErrorReader {
  /** Message and code of an error body, each only if the body has one. */
  read(body: unknown): { message?: string; code?: string }
  /** The error body for an error object that a provider has sent in a 200 or in a stream, as it would have sent it with this status. */
  bodyOf(error: JsonObject, status: number): JsonObject
  /** Does an error body mean that the provider does not count tokens for this model or this client at all? */
  cannotCount?(body: unknown): boolean
}

/** How errors are written for a format's clients. */
export interface ErrorFormat {
  /** The body of an error answer, as a JSON value. */
  body(error: ErrorFacts): object
  /** Whole server-sent events that end a stream with an error; `position`: where the stream broke off. */
  event(error: ErrorFacts, position?: StreamPosition): string
  /** Can the format's clients read this error body of a provider as it is? */
  isReadable(body: unknown): boolean
  /** Is this event of a provider's stream an error to the format's clients? */
  isErrorEvent(event: SseEvent): boolean
}

/** The errors of a format that both clients and providers speak. */
export interface FormatErrors extends ErrorReader, ErrorFormat {}

/** How the usage of a stream is requested, in formats whose providers report it only on request. */
export interface UsageRequest {
  /** Does the client's request neither ask for the usage nor refuse it, so that the gateway may ask? */
  isOpen(request: JsonObject): boolean
  /** The text of such a request, asking for the usage; every other character stays. `body`: its value. */
  ask(text: string, body: JsonObject): string
  /** Is this the event that only reports the usage? Clients expect it only if they have asked for it. */
  isAnswer(event: SseEvent): boolean
}

/** How a request is recognized as one of the format's clients when its endpoint does not show it. */
interface ClientDetection {
  /** Paths that only these clients request, whether they exist or not. */
  readonly paths?: RegExp
  /** Headers of which these clients send at least one, for paths that several formats share. */
  readonly headers: readonly string[]
}

/** What the gateway knows about a client's format. */
export interface Format {
  readonly name: ClientFormat
  /** Where its clients send model requests. */
  readonly endpoints: readonly Endpoint[]
  readonly clientSigns: ClientDetection
  readonly errors: FormatErrors
  /** The header in which clients look for the provider's id of the request. */
  readonly requestIdHeader: string
  /** A text that keeps a silent stream open; clients ignore it. */
  readonly keepAlive: string
  /**
   * Creates a filter for the events of a stream that is passed through. The filter returns the same bytes, without events at which clients
   * would throw. Absent if the format's providers send no such events.
   */
  createKeeper?(): (events: Uint8Array) => Uint8Array
  /** Do its answers describe the target that answered, the earlier attempts and the cost (`WriteContext.describe`)? */
  readonly tellsCourse?: true
  /** The members of its answers that hold what the model says; those of a format of providers stand with its `answers`. */
  readonly said?: SaidIn
  loadTranslator(): Promise<ClientTranslator>
}

/** A format that both clients and providers speak. */
export interface SharedFormat extends Format, UpstreamFormat {
  readonly name: WireFormat
  readonly errors: FormatErrors
  loadTranslator(): Promise<Translator>
}

/** The members of answers to clients that hold what the model says; `undefined` where it says nothing. */
export const saidToClients = (format: Format | SharedFormat, operation: Operation): SaidIn | undefined =>
  'answers' in format ? answersOf(format, operation).said : format.said

/** An endpoint for model requests: its path, its format, and the operation that it serves. */
export interface Endpoint {
  /** Below the base path; `{model}` where the format has the model's name in its path. */
  path: string
  /** The form of its requests, answers and errors. */
  format: ClientFormat
  operation: Operation
  /** The members of its body that may name the model, the first that is given; default: `model`. */
  modelNames?: readonly string[]
  /** What stands for the model where a request names its provider alone, as in `tavily` for `tavily/search`. */
  service?: string
  /** The words of its OpenAPI description, where they differ from those of its format. */
  words?: { summary: string; vendor: string; reference: string }
  /**
   * How its body is read, by a reader in `pipeline/read.ts`: as a JSON object, as a form with files, in whose place JSON may stand, or as a JSON
   * object with a file of sound in base64.
   */
  reads: 'json' | 'form' | 'sound'
  /** The limit for the size of its body; default `maxBodyBytes`. */
  bodyLimit?: 'maxBodyBytes' | 'maxAudioBytes' | 'maxImageBytes'
  /**
   * The size in bytes of the base64 files in a body that is not a form. Where this function is present, the size limit applies to the files, and the
   * body may be a third larger.
   */
  sizeInBase64?(body: JsonObject, files: readonly FormFile[]): number
  /** When its answer is a stream: if the body's `stream` is true, always, or never. */
  streams: 'asked' | 'always' | 'never'
  /** The member of its body that asks for a stream, and its value then; default: `stream`, which is `true`. */
  streamBy?: { member: string; value: string }
  /** The content types of its whole answers; default: JSON. */
  answerTypes?: readonly string[]
  /** The headers that name the model, and that ask for a stream by "true", where they say it in place of the body. */
  headers?: { readonly model: string; readonly stream?: string; readonly version?: string }
  /** The version of its API, where the path or the header has it. */
  version?: string
  /** The endpoint's path below a provider's base URL, with its query. */
  upstreamPath(model: string): string
  /** Further members of an error's body that hold its message, for clients that look for it there. */
  messageIn?: readonly string[]
  /** Fields that refer to answers stored by a provider. They are refused: the gateway stores no answers and has several providers. */
  stateful?: readonly string[]
  /** The member that providers refuse in a request without a stream. */
  streamMember?: string
  /** The body for another model, all other characters unchanged; only where a request names its model in more than one place. */
  bodyFor?(text: string, model: string): string
  /** The ids by which a request refers to items of earlier answers; only where requests can name items by their ids. */
  referencesIn?(request: { text: string; body: JsonObject }): readonly string[]
  /** Does a request also ask for a compaction, and when? Only where requests can. */
  compactionIn?(request: JsonObject): CompactionMode | undefined
  /** How the usage of streams is requested; only where providers do not always report it. */
  usageRequest?: UsageRequest
  /** How a request says how much it may be answered with; absent where nothing is written. */
  outputLimit?: OutputLimit
  /** The most that its requests can use. Absent: one answer to the content of the body. */
  bound?: RequestBound
}

/** What a request of an endpoint may use at most, as its form says it. Each member has its default. */
export interface RequestBound {
  /** How many answers it asks for, each of which may have as many tokens as `outputLimit` says; default: one. */
  answers?(body: JsonObject): number
  /** Its answers have no tokens of output, as vectors and numbers have none. */
  readonly hasNoOutput?: true
  /** Is it charged for by tokens or by units, whichever the model has a price of? Default: by both. */
  readonly isEither?: true
  /** The most tokens of input; `estimate`: those of what the body holds, which is the default. */
  inputTokens?(body: JsonObject, estimate: () => number, files?: readonly FormFile[]): number
  /** The most tokens of output, where its requests have no limit of their own for it; default: the most that the model has. */
  outputTokens?(body: JsonObject, files?: readonly FormFile[]): number
  /** The most that it can be charged for besides tokens; default: nothing. `files`: those of a form. */
  units?(body: JsonObject, files?: readonly FormFile[]): NonNullable<TokenUsage['units']>
}

/** The bound of requests that cost nothing. */
export const FREE: RequestBound = { hasNoOutput: true, inputTokens: () => 0 }

/** A number of answers that a request asks for, by its field, which some servers also read from text; at least 1. */
export function answersIn(value: unknown): number {
  const count = typeof value === 'string' ? Number(value) : value
  return typeof count === 'number' && count > 1 ? Math.ceil(count) : 1
}

/** Where the requests of an endpoint say how many tokens their answers may have. */
export interface OutputLimit {
  /** The most that a request allows, in tokens; `undefined` if it says nothing, or something that is no positive number. */
  of(body: JsonObject): number | undefined
  /** The text with that limit, all other characters unchanged. `field`: the name that the provider reads, where its format has several. */
  set(request: { text: string; body: JsonObject }, tokens: number, field: Traits['outputLimitField']): string
  /** What its clients call the limit. */
  readonly name: string
}

/**
 * The limit in a member of the body. `names`: all that it may have, the first one where the request has none. Where a request has several, the
 * highest counts, as it is not known which one the provider reads.
 */
export const outputLimitIn = (...names: readonly [string, ...string[]]): OutputLimit => ({
  of: (body) => highestLimit(names.map((name) => body[name])),
  set({ text, body }, tokens, field) {
    const given = names.filter((name) => (body[name] ?? null) !== null)
    const written = given.length > 0 ? given : [names.includes(field) ? field : names[0]]
    return written.reduce((written, name) => withMember(written, name, () => String(tokens)), text)
  },
  name: names[0],
})

/** The highest of the limits that are given; `undefined` if there is none, or one of them limits nothing: some servers read -1 so. */
export function highestLimit(limits: readonly unknown[]): number | undefined {
  const given = limits.filter((limit) => (limit ?? null) !== null)
  const numbers = given.filter((limit) => typeof limit === 'number' && limit >= 1 && Number.isFinite(limit))
  return given.length > 0 && numbers.length === given.length ? Math.max(...(numbers as number[])) : undefined // filtered
}

/** An endpoint whose path does not depend on the model: below `/v1` for clients, below the base URL for providers. */
export const fixedEndpoint = (
  format: WireFormat,
  path: string,
  { operation = operations.generate, streams = 'asked', ...more }: Partial<Omit<Endpoint, 'path' | 'format'>> = {},
): Endpoint => ({
  path: `/v1${path}`,
  format,
  operation,
  reads: 'json',
  streams,
  upstreamPath: () => path,
  ...more,
})
