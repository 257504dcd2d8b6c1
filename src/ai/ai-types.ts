/*
 * Structural types for the parts of the AI SDK 6 (V3) and 7 (V4) model interfaces that `signalbox/ai` uses, so neither version needs to be installed.
 */

/** `v4` for AI SDK 7, `v3` for AI SDK 6. */
export type Specification = 'v3' | 'v4'

type Json = null | string | number | boolean | { [name: string]: Json | undefined } | Json[]

interface JsonMap {
  [name: string]: Json | undefined
}

type ProviderMetadata = Record<string, JsonMap>

/** A part of the request that the target doesn't support. */
export interface UnsupportedWarning {
  type: 'unsupported'
  feature: string
  details?: string
}

/** A web page, or a document from the request. */
type SourcePart = { type: 'source'; id: string; providerMetadata?: ProviderMetadata } & (
  | { sourceType: 'url'; url: string; title?: string }
  | { sourceType: 'document'; mediaType: string; title: string; filename?: string }
)

interface GatewayFilePart<S extends Specification> {
  type: 'file'
  mediaType: string
  data: S extends 'v4' ? { type: 'data'; data: string } | { type: 'url'; url: URL } : string
  providerMetadata?: ProviderMetadata
}

interface GatewayToolCall {
  type: 'tool-call'
  toolCallId: string
  toolName: string
  input: string
  providerExecuted?: boolean
  dynamic?: boolean
  providerMetadata?: ProviderMetadata
}

interface GatewayToolResult {
  type: 'tool-result'
  toolCallId: string
  toolName: string
  result: NonNullable<Json>
  isError?: boolean
  dynamic?: boolean
}

type CompletePart<S extends Specification> = SourcePart | GatewayFilePart<S> | GatewayToolCall | GatewayToolResult

type GatewayContent<S extends Specification> =
  | { type: 'text'; text: string; providerMetadata?: ProviderMetadata }
  | { type: 'reasoning'; text: string; providerMetadata?: ProviderMetadata }
  | CompletePart<S>

/** A response's token usage. Counts are `undefined` if the provider doesn't report them. */
export interface ModelUsage {
  inputTokens: {
    total: number | undefined
    noCache: number | undefined
    cacheRead: number | undefined
    cacheWrite: number | undefined
  }
  outputTokens: { total: number | undefined; text: number | undefined; reasoning: number | undefined }
}

interface GatewayFinishReason {
  unified: 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other'
  raw: string | undefined
}

interface ResponseMetadata {
  id?: string
  timestamp?: Date
  modelId?: string
}

/** A stream part. */
export type GatewayStreamPart<S extends Specification> =
  | { type: 'stream-start'; warnings: UnsupportedWarning[] }
  | ({ type: 'response-metadata' } & ResponseMetadata)
  | {
      type: 'text-start' | 'text-end' | 'reasoning-start' | 'reasoning-end'
      id: string
      providerMetadata?: ProviderMetadata
    }
  | { type: 'text-delta' | 'reasoning-delta'; id: string; delta: string; providerMetadata?: ProviderMetadata }
  | { type: 'tool-input-start'; id: string; toolName: string; inputEncoding?: 'text' }
  | { type: 'tool-input-delta'; id: string; delta: string }
  | { type: 'tool-input-end'; id: string }
  | CompletePart<S>
  | { type: 'finish'; usage: ModelUsage; finishReason: GatewayFinishReason; providerMetadata?: ProviderMetadata }
  | { type: 'raw'; rawValue: unknown }
  | { type: 'error'; error: unknown }

/** Call options that aren't part of the body. */
export interface CallSettings {
  abortSignal?: AbortSignal | undefined
  headers?: Record<string, string | undefined> | undefined
}

/** A language model's call options. All except the ones in `CallSettings` are sent unchanged. */
export interface LanguageCall extends CallSettings {
  prompt: unknown
  includeRawChunks?: boolean | undefined
  providerOptions?: unknown
}

export interface GenerateResult<S extends Specification> {
  content: GatewayContent<S>[]
  finishReason: GatewayFinishReason
  usage: ModelUsage
  warnings: UnsupportedWarning[]
  providerMetadata?: ProviderMetadata
  request: { body: unknown }
  response: ResponseMetadata & { headers: Record<string, string>; body: unknown }
}

export interface SignalboxLanguageModel<S extends Specification> {
  readonly specificationVersion: S
  readonly provider: string
  readonly modelId: string
  readonly supportedUrls: Record<string, RegExp[]>
  doGenerate(call: LanguageCall): Promise<GenerateResult<S>>
  doStream(call: LanguageCall): Promise<{
    stream: ReadableStream<GatewayStreamPart<S>>
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
  doEmbed(call: CallSettings & { values: string[] }): Promise<{
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
    call: CallSettings & {
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

/** An image to edit, or a mask. */
export type ImageFile = { type: 'file'; mediaType: string; data: string | Uint8Array } | { type: 'url'; url: string }

export interface SignalboxImageModel<S extends Specification> {
  readonly specificationVersion: S
  readonly provider: string
  readonly modelId: string
  readonly maxImagesPerCall: number
  doGenerate(
    call: CallSettings & {
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
    /** The images in base64. */
    images: string[]
    isRetryable?: boolean
    usage?: { inputTokens: number | undefined; outputTokens: number | undefined; totalTokens: number | undefined }
    warnings: UnsupportedWarning[]
    /** `images` contains metadata about each image. */
    providerMetadata: { signalbox: JsonMap & { images: Json[] } }
    response: ModelResponse
  }>
}

/** Response metadata. */
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
    call: CallSettings & {
      text: string
      voice?: string
      outputFormat?: string
      instructions?: string
      speed?: number
      language?: string
      providerOptions?: unknown
    },
  ): Promise<{
    /** The audio in base64. */
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
    call: CallSettings & {
      /** The recording as bytes or base64. */
      audio: Uint8Array | string
      mediaType: string
      timestampGranularities?: ('word' | 'segment')[]
      providerOptions?: unknown
    },
  ): Promise<{
    text: string
    /** Empty unless the vendor reports timestamps, by default or on request. */
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
