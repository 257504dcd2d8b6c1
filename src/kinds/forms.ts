import type { FieldNames, ResponseWarnings, Warnings } from '../formats/canonical/warnings.ts'
import type { AnswerReader, EmbeddedError, TokenUsage } from '../formats/format.ts'
import type { JsonObject } from '../lib/json.ts'
import type { FormFile, FormPart } from '../lib/multipart.ts'
import type { SseEvent } from '../lib/sse.ts'
import type { ProviderTarget } from '../providers/target.ts'

/** The members that answers of all kinds share: usage, and the provider's name of the model. */
export interface Used {
  usage?: TokenUsage | undefined
  /** The provider's name of the model. */
  model?: string | undefined
}

/** The form that clients of a kind send and read. `Asked` and `Given` are what all forms of the kind are translated into and from. */
export interface ClientForm<Asked, Given, Piece = never> {
  /** Its names of the fields of `Asked`, for warnings and refusals. */
  readonly fieldNames?: FieldNames
  /** Reads a request. Throws `INVALID_REQUEST`, which names the field (`warnings.refuse`), on one that is malformed. */
  read(body: JsonObject, context: ReadTerms): Asked
  /** Writes an answer that has come whole; as text where it is not JSON. */
  write(given: Given, context: WriteTerms<Asked>): JsonObject | string
  /** The content type of a whole answer; default `application/json`. */
  wholeType?(asked: Asked): string
  /** How an answer is written that is a stream, or bytes; absent, or `undefined`: it is written whole. */
  stream?(asked: Asked, context: WriteTerms<Asked>): ClientStream<Given, Piece> | undefined
}

/** Writes one answer piece by piece. Made anew for each answer. */
export interface ClientStream<Given, Piece> {
  /** The content type. `sent`: that of a vendor whose answer is of bytes. */
  type(sent?: string): string
  /** What the client gets of a piece; `undefined`: nothing. */
  piece(piece: Piece): Uint8Array | undefined
  /** What follows the last piece. */
  end(usage: TokenUsage | undefined): Uint8Array | undefined
  /** The pieces of an answer that has come whole. */
  whole(given: Given): readonly Piece[]
  /** Does the client read events? Then an error is one of them, otherwise the connection is aborted. */
  readonly isEvents: boolean
}

/** The content of one event, or of some bytes, of a vendor's stream. */
export interface SaidPieces<Piece> {
  /** The first one with a piece is where the answer begins: no other target is tried any more. */
  pieces?: readonly Piece[]
  usage?: TokenUsage | undefined
  error?: EmbeddedError | undefined
  /** Is the answer complete? */
  isLast?: boolean
}

/** How the stream of a vendor is read, for one answer. */
export type VendorStream<Piece> =
  | { readonly of: 'events'; read(event: SseEvent): SaidPieces<Piece> }
  | { readonly of: 'bytes'; isOwn(contentType: string): boolean; read(bytes: Uint8Array): SaidPieces<Piece> }

export interface ReadTerms {
  /** Collects what is lost on the way to the target; in strict mode a loss is refused. */
  warnings: Warnings
  /** A header of the client, by which some tell which form they expect. */
  header(name: string): string | undefined
  /** The files of a form. */
  files: readonly FormFile[]
  /** Epoch seconds. */
  now: number
}

export interface WriteTerms<Asked> {
  asked: Asked
  /** Collects the parts of the answer that the client does not get. */
  lost: ResponseWarnings
  /** The id of the provider. */
  provider: string
  /** The provider's name of the model, else the target's. */
  model: string
  /** Epoch seconds. */
  now: number
  newId(): string
  /** The parts of the request that the target does not get, such as `dropped:seed`. */
  losses(): readonly string[]
  /** A description of the answer for client formats that have a place for it: the target that answered, the earlier attempts, and the cost. */
  describe?: KindCall['describe']
}

/** The form of a vendor for one kind: how requests are written and answers are read. */
export interface VendorForm<Asked, Given extends Used, Piece = never> {
  /** The name of the form, which the `format` of a connection may have as well (`vendorForms` in src/types/unions.ts). */
  readonly name: string
  /** The ids of the providers whose models are asked in this form. */
  readonly providers?: readonly string[]
  /** Does a target use this form, if its provider alone does not decide that? */
  isOf?(target: ProviderTarget): boolean
  /** The address of the vendor for this kind, where that of its chat in the catalog is another. */
  readonly baseUrl?: string
  /** The address below which the paths of the form are, of the one that the connection has; default: the same. */
  base?(baseUrl: string): string
  /** The header that carries the credential, in lower case; default: that of the provider, else of its format. */
  readonly keyHeader?: string
  /** Must the pictures of a request be there as bytes? Those that are named by an address are fetched then. */
  readonly readsNoAddresses?: true
  /** How many entries it takes at once; default: any number. What has more is divided. */
  most?(target: ProviderTarget): number
  /** The clients whose requests are passed through. */
  readonly passes?: readonly PassedForm<Asked>[]
  /** Writes a request. Notes what it cannot carry (`warnings.noteDropped`), or refuses it. */
  request(asked: Asked, context: VendorContext): VendorRequest
  /** Reads an answer to `asked`; what it lacks, in words, if it is none: "an embedding for each input". */
  answer(json: JsonObject, asked: Asked): Given | string
  /** The name of the member that an answer which is an array is read as. */
  readonly arraysAs?: string
  /** The name of the member that an answer which is plain text is read as. */
  readonly textAs?: string
  /** The name of the member that a whole answer in the bytes of an image or of sound is read as, in base64; its media type is in `type`. */
  readonly bytesAs?: string
  /** For vendors that answer with a job, which is polled until it is done. */
  readonly job?: JobForm
  /** How the stream is read that the answer to this request is; absent, or `undefined`: the answer comes whole. */
  stream?(asked: Asked, target: ProviderTarget): VendorStream<Piece> | undefined
  /** The content type of what the client gets of an answer in bytes. `sent`: that of the vendor, whose answer is of bytes, too. */
  type?(asked: Asked, sent: string | undefined): string | undefined
  /** The usage that the headers of an answer report, for vendors whose bodies have none. */
  usageIn?(header: (name: string) => string | undefined): TokenUsage | undefined
  /** The error that an answer of status 200 holds, if it holds one; default: that in its member `error`. */
  errorIn?(json: JsonObject, asked: Asked): EmbeddedError | undefined
}

/** The state of a job. `refused`: by a content filter. */
export type JobState = 'open' | 'done' | 'failed' | 'refused'

/** How a job is polled for its result. */
export interface JobForm {
  /** The vendor's own domain: an address there, by https, gets the credential as well if the job was begun there. Default: only the same origin. */
  readonly domain?: string
  /** Where to poll the job, read from the answer to the request at the address `submitted`; `undefined` if the answer is no job. */
  at(json: JsonObject, submitted: string): JobAddress | undefined
  /** The state of the job, read from an answer to a poll; that answer is the result once the job is done. */
  state(json: JsonObject): JobState
}

export interface JobAddress {
  url: string
  /** Posted; absent: a `GET`. */
  body?: JsonObject
  /** Members of the first answer that the result has as well. */
  kept?: JsonObject
}

/** Functions that complete the answer of a provider. */
export interface AfterAnswer {
  /** The address of the request. */
  submitted: string
  /** Resolves to the result of a job. Rejects when it fails, is refused, takes too long, or is at an address that is not the vendor's. */
  jobDone(at: JobAddress, job: JobForm): Promise<JsonObject>
  /** Fetches an image, with no credential; `undefined` where its address is not public, or it cannot be fetched. */
  download(url: string): Promise<{ bytes: Uint8Array; mediaType: string } | undefined>
}

/** How requests are passed through to a vendor that speaks the form of their clients. */
export interface PassedForm<Asked> {
  /** The name of the clients' form. */
  readonly client: string
  path(target: ProviderTarget): string
  /** The members of the body of which one holds the entries of a request that is divided; absent: such a request is translated. */
  readonly lists?: readonly string[]
  /** May the request be passed through to this target? Default: always. */
  isOpen?(asked: Asked, target: ProviderTarget): boolean
  /** The members of the body that the target does not know, and that say nothing about the answer. */
  without?(asked: Asked, context: VendorContext): readonly string[]
  /** Members that stand before those of the body, in place of any of their names. */
  added?(asked: Asked, context: VendorContext): JsonObject
  /** Reads an answer's text for less than it costs to parse, if it can go to the client as it is. */
  skim?(text: string, asked: Asked): JsonObject | undefined
  /** The answer as the client wants it; `undefined` where its bytes are that. */
  rewritten?(json: JsonObject, asked: Asked): JsonObject | undefined
  /** Reads a stream whose events, or bytes, the client gets as they are. */
  stream?(asked: Asked): VendorStream<unknown> | undefined
}

export interface VendorContext {
  target: ProviderTarget
  /** The client's own. */
  body: JsonObject
  /** The pictures that were fetched from `addresses`, by address. */
  fetched?: FetchedPictures | undefined
  /** The parts of the client's form; `undefined`, where its body was JSON. */
  form: readonly FormPart[] | undefined
  warnings: Warnings
}

/** Pictures by their addresses. */
export type FetchedPictures = ReadonlyMap<string, { bytes: Uint8Array; type: string }>

/** A request for a vendor, without its address and credential. */
export interface VendorRequest {
  /** Below the base URL. */
  path: string
  /** Members without a value are left out, and lists are repeated. */
  query?: Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>
  /** Default `POST`. */
  method?: 'GET'
  /** In lower case. */
  headers?: Readonly<Record<string, string>>
  body?: JsonObject
  /** In place of `body`: a form, whose files are sent last. */
  form?: readonly FormPart[]
  /** In place of `body`: bytes of this content type. */
  bytes?: { type: string; bytes: Uint8Array }
  /** Another service of a cloud than the one of its chat: `bedrock-agent-runtime`. */
  service?: string
}

/** How requests of a kind with more entries than a vendor takes at once are divided. */
export interface Division<Asked, Given extends Used> {
  /** The number of entries. */
  sizeOf(asked: Asked): number
  /** The request for the entries from `start` to before `end`. */
  slice(asked: Asked, start: number, end: number): Asked
  /** Joins the answers to the parts, in their order, to the answer to the whole request. The usage is added up elsewhere. */
  join(given: readonly Given[]): Given
  /** Do the parts that have been answered count, if others fail? Default: all fail. */
  readonly isPartial?: true
  /**
   * Creates, for each request, a check that gets the answers to its parts in turn. The check returns, in words, what an answer lacks in comparison
   * with those before; `undefined` if nothing.
   */
  comparing?(): (given: Given) => string | undefined
}

/** The forms of a kind. */
export interface FormsOfKind<Asked, Given extends Used, Piece = never> {
  readonly clients: Readonly<Record<string, ClientForm<Asked, Given, Piece>>>
  /** The first that fits a target is used. */
  readonly vendors: readonly VendorForm<Asked, Given, Piece>[]
  /** For targets that none of them fits. */
  readonly otherwise: VendorForm<Asked, Given, Piece>
  readonly division?: Division<Asked, Given>
  /** Are its requests charged by the tokens of what they send? Then these are estimated where a provider does not report them. */
  readonly countsTokens?: true
  /** Completes an answer, such as by what it names by address. */
  complete?(given: Given, asked: Asked, tools: AfterAnswer): Promise<Given>
  /** The addresses in a request of pictures that some vendors must have as bytes. */
  addresses?(asked: Asked): readonly string[]
  /** The usage of a request whose vendor reports none, if it is known from the request. Its units also count where the vendor reports only tokens. */
  usageOf?(asked: Asked): TokenUsage | undefined
  /** Adds to the usage of an answer what its price depends on; `given`: the answer, unless it is a stream. */
  priced?(usage: TokenUsage, asked: Asked, given: Given | undefined): TokenUsage
  /** The member of a provider's definition that has its address for this kind, and the header for its key. */
  readonly config?: 'searchConfig' | 'fetchConfig'
}

/** A request that is carried to a target. */
export interface KindCall {
  /** The form of its client. */
  client: string
  body: JsonObject
  /** The text of the body with the target's name of the model. */
  text: string
  /** The parts of a form. */
  form: readonly FormPart[] | undefined
  /** What was fetched of the addresses that the target does not read. */
  fetched?: FetchedPictures
  warningsFor(names: FieldNames | undefined): Warnings
  header(name: string): string | undefined
  /** Epoch seconds. */
  now(): number
  newId(): string
  /**
   * A description of the answer: the target that answered, the earlier attempts, and the cost of this usage; absent if the client's format has no
   * place for it.
   */
  describe?: ((usage: TokenUsage | undefined) => JsonObject) | undefined
}

/** One of the calls that answer a request. */
export interface CarriedPart {
  request: Omit<VendorRequest, 'body' | 'form' | 'bytes'> & { body?: string | Uint8Array | undefined }
  answers: AnswerReader
  /**
   * Makes the answer out of a response: waits for the result of its job, and fetches what it names by address. Absent if the response is the answer.
   */
  completed?(json: JsonObject, tools: AfterAnswer): Promise<JsonObject>
}

/** How a request is carried to a target: what is sent, and how the answers become the client's. */
export interface Carried {
  /** The address of the target, by the vendor's form. */
  address: {
    [Name in 'baseUrl' | 'base' | 'keyHeader']?: VendorForm<unknown, Used>[Name] | undefined
  } & { config?: FormsOfKind<unknown, Used>['config'] | undefined }
  /** At least one; more where a request is divided. */
  parts: readonly CarriedPart[]
  /** Do the parts that have been answered count, if others fail? */
  isPartial: boolean
  isPassThrough: boolean
  /** The losses of the request, and, once the answer is written, those of the answer. */
  losses(): readonly string[]
  /** The answer for the client; `undefined` where the bytes of the only part are that. `usage`: of all parts. */
  write(answers: readonly JsonObject[], usage: TokenUsage | undefined): JsonObject | string | Uint8Array | undefined
  /** The content type of an answer. `sent`: that of the vendor. */
  replyType(sent: string | undefined, isWhole: boolean): string
  /** How the answer is carried that is a stream; `undefined`: it comes whole. */
  stream: CarriedStream | undefined
}

/** How a stream is carried from a vendor to a client. */
export interface CarriedStream {
  readonly of: 'events' | 'bytes'
  /** Does the client read events? */
  readonly isEvents: boolean
  /** Reads and writes one answer. */
  open(): {
    /** Translates an event, or bytes, for the client. */
    read(
      said: SseEvent | Uint8Array,
    ): Omit<SaidPieces<never>, 'pieces'> & { bytes: readonly Uint8Array[]; hasPieces: boolean }
    /** What follows the last of them. */
    end(reported: TokenUsage | undefined): readonly Uint8Array[]
  }
  /** The usage of an answer: what its stream has `reported`, its headers report, or is counted here. */
  usage(reported: TokenUsage | undefined, header: (name: string) => string | undefined): TokenUsage | undefined
}

/** The forms of a kind, as requests use them. */
export interface KindForms {
  /** Throws `INVALID_REQUEST` when the request is malformed or the target cannot carry it. */
  carry(call: KindCall, target: ProviderTarget): Carried
  /** The addresses of pictures that the target must have as bytes. Throws as `carry` does when the request is malformed. */
  addresses(call: KindCall, target: ProviderTarget): readonly string[]
  /** The names of the clients' forms. */
  readonly clients: readonly string[]
  /** The names of the vendors' forms. */
  readonly vendors: readonly string[]
}
