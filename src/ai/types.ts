/*
 * The parts of the interfaces of models in AI SDK 6 (V3) and 7 (V4) that `signalbox/ai` uses. They are structural, so that neither version has to be
 * installed.
 */

/** `v4`: of AI SDK 7, `v3`: of AI SDK 6. */
export type Specification = 'v3' | 'v4'

type Json = null | string | number | boolean | { [name: string]: Json | undefined } | Json[]

interface JsonMap {
  [name: string]: Json | undefined
}

type ProviderMetadata = Record<string, JsonMap>

/** A part of a request that the target does not take. */
export interface UnsupportedWarning {
  type: 'unsupported'
  feature: string
  details?: string
}

/** A page, or a document of the request. */
type SourcePart = { type: 'source'; id: string; providerMetadata?: ProviderMetadata } & (
  | { sourceType: 'url'; url: string; title?: string }
  | { sourceType: 'document'; mediaType: string; title: string; filename?: string }
)

interface FilePartOf<S extends Specification> {
  type: 'file'
  mediaType: string
  data: S extends 'v4' ? { type: 'data'; data: string } | { type: 'url'; url: URL } : string
  providerMetadata?: ProviderMetadata
}

interface ToolCallOf {
  type: 'tool-call'
  toolCallId: string
  toolName: string
  input: string
  providerExecuted?: boolean
  dynamic?: boolean
  providerMetadata?: ProviderMetadata
}

interface ToolResultOf {
  type: 'tool-result'
  toolCallId: string
  toolName: string
  result: NonNullable<Json>
  isError?: boolean
  dynamic?: boolean
}

type WholePartOf<S extends Specification> = SourcePart | FilePartOf<S> | ToolCallOf | ToolResultOf

type ContentOf<S extends Specification> =
  | { type: 'text'; text: string; providerMetadata?: ProviderMetadata }
  | { type: 'reasoning'; text: string; providerMetadata?: ProviderMetadata }
  | WholePartOf<S>

/** The tokens of an answer; `undefined` where the provider does not report them. */
export interface ModelUsage {
  inputTokens: {
    total: number | undefined
    noCache: number | undefined
    cacheRead: number | undefined
    cacheWrite: number | undefined
  }
  outputTokens: { total: number | undefined; text: number | undefined; reasoning: number | undefined }
}

interface FinishedBy {
  unified: 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other'
  raw: string | undefined
}

interface AnswerFacts {
  id?: string
  timestamp?: Date
  modelId?: string
}

/** One part of a stream. */
export type StreamPartOf<S extends Specification> =
  | { type: 'stream-start'; warnings: UnsupportedWarning[] }
  | ({ type: 'response-metadata' } & AnswerFacts)
  | {
      type: 'text-start' | 'text-end' | 'reasoning-start' | 'reasoning-end'
      id: string
      providerMetadata?: ProviderMetadata
    }
  | { type: 'text-delta' | 'reasoning-delta'; id: string; delta: string; providerMetadata?: ProviderMetadata }
  | { type: 'tool-input-start'; id: string; toolName: string; inputEncoding?: 'text' }
  | { type: 'tool-input-delta'; id: string; delta: string }
  | { type: 'tool-input-end'; id: string }
  | WholePartOf<S>
  | { type: 'finish'; usage: ModelUsage; finishReason: FinishedBy; providerMetadata?: ProviderMetadata }
  | { type: 'raw'; rawValue: unknown }
  | { type: 'error'; error: unknown }

/** The options of a call that are not part of the body. */
export interface CallTerms {
  abortSignal?: AbortSignal | undefined
  headers?: Record<string, string | undefined> | undefined
}

/** The call options of a language model. All but those of `CallTerms` are sent as they are. */
export interface LanguageCall extends CallTerms {
  prompt: unknown
  includeRawChunks?: boolean | undefined
  providerOptions?: unknown
}

export interface GeneratedOf<S extends Specification> {
  content: ContentOf<S>[]
  finishReason: FinishedBy
  usage: ModelUsage
  warnings: UnsupportedWarning[]
  providerMetadata?: ProviderMetadata
  request: { body: unknown }
  response: AnswerFacts & { headers: Record<string, string>; body: unknown }
}

export interface SignalboxLanguageModel<S extends Specification> {
  readonly specificationVersion: S
  readonly provider: string
  readonly modelId: string
  readonly supportedUrls: Record<string, RegExp[]>
  doGenerate(call: LanguageCall): Promise<GeneratedOf<S>>
  doStream(call: LanguageCall): Promise<{
    stream: ReadableStream<StreamPartOf<S>>
    request: { body: unknown }
    response: { headers: Record<string, string> }
  }>
}

export interface SignalboxEmbeddingModel<S extends Specification> {
  readonly specificationVersion: S
  readonly provider: string
  readonly modelId: string
  readonly maxEmbeddingsPerCall: number
  readonly supportsParallelCalls: boolean
  doEmbed(call: CallTerms & { values: string[] }): Promise<{
    embeddings: number[][]
    usage?: { tokens: number }
    response: { headers: Record<string, string>; body: unknown }
    warnings: UnsupportedWarning[]
  }>
}

export interface SignalboxRerankingModel<S extends Specification> {
  readonly specificationVersion: S
  readonly provider: string
  readonly modelId: string
  doRerank(
    call: CallTerms & {
      documents: { type: 'text'; values: string[] } | { type: 'object'; values: object[] }
      query: string
      topN?: number | undefined
    },
  ): Promise<{
    ranking: { index: number; relevanceScore: number }[]
    response: { headers: Record<string, string>; body: unknown }
    warnings: UnsupportedWarning[]
  }>
}

/** A picture to change, or a mask. */
export type ImageFile = { type: 'file'; mediaType: string; data: string | Uint8Array } | { type: 'url'; url: string }

export interface SignalboxImageModel<S extends Specification> {
  readonly specificationVersion: S
  readonly provider: string
  readonly modelId: string
  readonly maxImagesPerCall: number
  doGenerate(
    call: CallTerms & {
      prompt: string | undefined
      n: number
      size: `${number}x${number}` | undefined
      aspectRatio: `${number}:${number}` | undefined
      seed: number | undefined
      files?: ImageFile[] | undefined
      mask?: ImageFile | undefined
      providerOptions?: unknown
    },
  ): Promise<{
    /** In base64. */
    images: string[]
    isRetryable?: boolean
    usage?: { inputTokens: number | undefined; outputTokens: number | undefined; totalTokens: number | undefined }
    warnings: UnsupportedWarning[]
    /** `images`: the facts of each image. */
    providerMetadata: { signalbox: JsonMap & { images: Json[] } }
    response: ModelResponse
  }>
}

/** The time of an answer, the model that gave it, and the headers. */
interface ModelResponse {
  timestamp: Date
  modelId: string
  headers: Record<string, string>
}

export interface SignalboxSpeechModel<S extends Specification> {
  readonly specificationVersion: S
  readonly provider: string
  readonly modelId: string
  doGenerate(
    call: CallTerms & {
      text: string
      voice?: string
      outputFormat?: string
      instructions?: string
      speed?: number
      language?: string
      providerOptions?: unknown
    },
  ): Promise<{
    /** In base64. */
    audio: string
    warnings: UnsupportedWarning[]
    providerMetadata: { signalbox: JsonMap }
    response: ModelResponse & { body: unknown }
  }>
}

export interface SignalboxTranscriptionModel<S extends Specification> {
  readonly specificationVersion: S
  readonly provider: string
  readonly modelId: string
  doGenerate(
    call: CallTerms & {
      /** Bytes, or base64. */
      audio: Uint8Array | string
      mediaType: string
      timestampGranularities?: ('word' | 'segment')[]
      providerOptions?: unknown
    },
  ): Promise<{
    text: string
    /** Empty unless the vendor reports times, by itself or because the call asks for them. */
    segments: TimedText[]
    /** Only in AI SDK 7. */
    words?: TimedText[]
    language: string | undefined
    durationInSeconds: number | undefined
    warnings: UnsupportedWarning[]
    providerMetadata: { signalbox: JsonMap }
    response: ModelResponse & { body: unknown }
  }>
}

interface TimedText {
  text: string
  startSecond: number
  endSecond: number
}
