import { platformFetch } from '../client/client-platform.ts'
import { createSseParser } from '../lib/sse.ts'
import type { Identity } from '../request/identity.ts'
import type { ComboModel, RequestModels } from '../types.ts'
import type {
  CallSettings,
  GatewayStreamPart,
  LanguageCall,
  SignalboxEmbeddingModel,
  SignalboxImageModel,
  SignalboxLanguageModel,
  SignalboxRerankingModel,
  SignalboxSpeechModel,
  SignalboxTranscriptionModel,
  Specification,
} from './ai-types.ts'
import { createCallError } from './call-error.ts'
import {
  createFetchTransport,
  createInProcessTransport,
  type GatewayInProcess,
  type Transport,
  toJson,
} from './transport.ts'

export type { SignalboxCallOptions } from '../types/records/request-model-fields.ts'
export type {
  SignalboxEmbeddingModel,
  SignalboxImageModel,
  SignalboxLanguageModel,
  SignalboxRerankingModel,
  SignalboxSpeechModel,
  SignalboxTranscriptionModel,
  Specification,
} from './ai-types.ts'

/** Options for a gateway in this process. */
export interface InProcessOptions<S extends Specification = 'v4'> {
  /**
   * The account to run as: one of your users, by ID, or an identity with more fields. Its limits and allowed models apply. Default: none, because
   * your app is trusted.
   */
  account?: string | Identity
  /** Keeps a serverless platform running until the calls' usage is stored, such as `after` from `next/server`. */
  waitUntil?: (work: Promise<unknown>) => void
  /** An API key, whose limits and allowed models apply; with `account`, a key of that account. Default: none. */
  apiKey?: string
  /** `v3` for AI SDK 6. Default: `v4`, for AI SDK 7. */
  specification?: S
}

/** Options for a gateway on a server. */
export interface RemoteOptions<S extends Specification = 'v4'>
  extends Omit<InProcessOptions<S>, 'account' | 'waitUntil'> {
  /** The gateway's URL, such as `http://127.0.0.1:4000`. */
  baseURL: string
  /** Default: the platform's `fetch`. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>
}

/** A combo, an alias, `<provider>/<model>`, or a list of combo entries: names, or objects with `model` and `params`. */
export type NamedModel = string | readonly ComboModel[]

/** Combo options, such as `strategy` and `on`, for each call. */
export interface ModelOptions extends Omit<RequestModels, 'models'> {}

/**
 * An AI SDK provider, which also works with `createProviderRegistry`, `customProvider`, `wrapProvider`, and `AI_SDK_DEFAULT_PROVIDER`. Call it to
 * create a language model. A list's model ID is its comma-separated names.
 */
export interface Signalbox<S extends Specification = 'v4'> {
  readonly specificationVersion: S
  (model: NamedModel, options?: ModelOptions): SignalboxLanguageModel<S>
  languageModel(model: NamedModel, options?: ModelOptions): SignalboxLanguageModel<S>
  embeddingModel(model: NamedModel, options?: ModelOptions): SignalboxEmbeddingModel<S>
  /** The former name of `embeddingModel`, which AI SDK 6 still accepts. */
  textEmbeddingModel(model: NamedModel, options?: ModelOptions): SignalboxEmbeddingModel<S>
  rerankingModel(model: NamedModel, options?: ModelOptions): SignalboxRerankingModel<S>
  imageModel(model: NamedModel, options?: ModelOptions): SignalboxImageModel<S>
  speechModel(model: NamedModel, options?: ModelOptions): SignalboxSpeechModel<S>
  transcriptionModel(model: NamedModel, options?: ModelOptions): SignalboxTranscriptionModel<S>
}

/**
 * Creates a provider for AI SDK 7, or for AI SDK 6 with `specification: 'v3'`, that calls a gateway in this process or on a server. Failed calls
 * reject with an `APICallError` that has the gateway's status. The AI SDK retries only if the gateway sends a retry time.
 */
export function createSignalbox<S extends Specification = 'v4'>(
  gateway: GatewayInProcess,
  options?: InProcessOptions<S>,
): Signalbox<NoInfer<S>>
export function createSignalbox<S extends Specification = 'v4'>(remote: RemoteOptions<S>): Signalbox<NoInfer<S>>
export function createSignalbox<S extends Specification = 'v4'>(
  gateway: GatewayInProcess | RemoteOptions<S>,
  options: InProcessOptions<S> = {},
): Signalbox<S> {
  const isRemote = 'baseURL' in gateway
  const { apiKey, specification = 'v4' } = isRemote ? gateway : options
  const version = specification as S // matches the type parameter's default
  const send = isRemote
    ? createFetchTransport({ baseURL: gateway.baseURL, apiKey, fetch: gateway.fetch ?? platformFetch })
    : createInProcessTransport(getAccountGateway(gateway, options.account), options)
  const createFactory =
    <M>(createModel: (models: Models<S>, modelId: string) => M) =>
    (model: NamedModel, options?: ModelOptions): M => {
      const entries: ComboModel[] = Array.isArray(model) ? [...model] : [model]
      const transport =
        typeof model === 'string' && !options ? send : addModelList(send, { ...options, models: entries })
      return createModel(new Models<S>(version, transport), entries.map(getEntryName).join(', '))
    }
  const languageModel = createFactory((models, modelId) => models.language(modelId))
  const embeddingModel = createFactory((models, modelId) => models.embedding(modelId))
  return Object.assign((model: NamedModel, options?: ModelOptions) => languageModel(model, options), {
    specificationVersion: version,
    languageModel,
    embeddingModel,
    textEmbeddingModel: embeddingModel,
    rerankingModel: createFactory((models, modelId) => models.reranking(modelId)),
    imageModel: createFactory((models, modelId) => models.image(modelId)),
    speechModel: createFactory((models, modelId) => models.speech(modelId)),
    transcriptionModel: createFactory((models, modelId) => models.transcription(modelId)),
  })
}

function getAccountGateway(gateway: GatewayInProcess, account: string | Identity | undefined): GatewayInProcess {
  if (account === undefined) return gateway
  if (!gateway.as) throw new TypeError('account needs the gateway itself: gateway.as() has an account already.')
  return gateway.as(typeof account === 'string' ? { account } : account)
}

/** Returns an entry's name, or `undefined` for a malformed entry, which the gateway rejects when the model is called. */
const getEntryName = (entry: ComboModel | null | undefined) => (typeof entry === 'string' ? entry : entry?.model)

/**
 * Sends a model list with each request that doesn't have its own. The model ID only labels the request in records, so it is shortened to fit into a
 * header.
 */
function addModelList(send: Transport, list: RequestModels): Transport {
  const models = JSON.stringify(list).replace(/[^\x20-\x7e]/g, escapeCharacter)
  return ({ headers, ...request }) => {
    const safeHeaders = Object.entries(headers).map(([name, value]) => [
      name,
      /^ai-.*model-id$/.test(name)
        ? value
            .replace(/[^\x20-\x7e]/g, '?')
            .trim()
            .slice(0, MAX_LABEL_LENGTH) || 'list'
        : value,
    ])
    return send({ ...request, headers: { 'x-signalbox-models': models, ...Object.fromEntries(safeHeaders) } })
  }
}

const escapeCharacter = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

const MAX_LABEL_LENGTH = 1_000

/** The last segment of the request path, and the protocol's headers. */
interface ModelRoute {
  route: string
  headers: Record<string, string>
}

class Models<S extends Specification> {
  readonly #specification: S
  readonly #send: Transport
  readonly #version: string

  constructor(specification: S, send: Transport) {
    this.#specification = specification
    this.#send = send
    this.#version = specification.slice(1)
  }

  language(modelId: string): SignalboxLanguageModel<S> {
    const createLanguageRoute = (streaming: boolean): ModelRoute => ({
      route: 'language-model',
      headers: {
        'ai-language-model-id': modelId,
        'ai-language-model-streaming': `${streaming}`,
        'ai-language-model-specification-version': this.#version,
      },
    })
    return {
      ...this.#createBase(modelId),
      supportedUrls: { '*/*': [/.*/] }, // the gateway fetches files for targets that can't
      doGenerate: async (call) => {
        const { value, ...rest } = await this.#fetchJson<GenerateBody<S>>(createLanguageRoute(false), call)
        const { response = {}, ...result } = value
        const { timestamp, ...facts } = response
        const responseTime = timestamp === undefined ? {} : { timestamp: new Date(timestamp) }
        return { ...result, request: rest.request, response: { ...facts, ...responseTime, ...rest.response } }
      },
      doStream: async (call) => {
        const { response, body } = await this.#post(createLanguageRoute(true), call)
        const stream = streamParts<S>(response, call, this.#specification)
        return { stream, request: { body }, response: { headers: Object.fromEntries(response.headers) } }
      },
    }
  }

  embedding(modelId: string): SignalboxEmbeddingModel<S> {
    return {
      ...this.#createBase(modelId),
      maxEmbeddingsPerCall: 2_048,
      supportsParallelCalls: true,
      doEmbed: async (call) => {
        const route = this.#createRoute('embedding-model', modelId)
        const { value, response } = await this.#fetchJson<EmbedBody>(route, call)
        return { ...value, response }
      },
    }
  }

  reranking(modelId: string): SignalboxRerankingModel<S> {
    return {
      ...this.#createBase(modelId),
      doRerank: async (call) => {
        const route = this.#createRoute('reranking-model', modelId)
        const { value, response } = await this.#fetchJson<RerankBody>(route, call)
        return { ...value, response }
      },
    }
  }

  image(modelId: string): SignalboxImageModel<S> {
    return {
      ...this.#createBase(modelId),
      maxImagesPerCall: 10,
      doGenerate: async (call) => {
        const { result, response } = await this.#fetchMedia<ImagesBody>('image-model', modelId, call)
        const { body: _, ...responseMetadata } = response // `body` repeats the images
        return { ...result, response: responseMetadata }
      },
    }
  }

  speech(modelId: string): SignalboxSpeechModel<S> {
    return {
      ...this.#createBase(modelId),
      doGenerate: async (call) => {
        const { result, response } = await this.#fetchMedia<SpeechBody>('speech-model', modelId, call)
        return { ...result, response }
      },
    }
  }

  transcription(modelId: string): SignalboxTranscriptionModel<S> {
    return {
      ...this.#createBase(modelId),
      doGenerate: async (call) => {
        const { result, response } = await this.#fetchMedia<TranscriptBody>('transcription-model', modelId, call)
        return { language: undefined, durationInSeconds: undefined, ...result, response }
      },
    }
  }

  #createBase(modelId: string) {
    return { specificationVersion: this.#specification, provider: 'signalbox', modelId }
  }

  #createRoute(route: string, modelId: string): ModelRoute {
    return { route, headers: { 'ai-model-id': modelId, [`ai-${route}-specification-version`]: this.#version } }
  }

  async #fetchMedia<T>(route: string, modelId: string, call: CallSettings) {
    const { value, response } = await this.#fetchJson<WithResponse<T>>(this.#createRoute(route, modelId), call)
    const { response: responseMetadata, ...result } = value
    return { result, response: { ...responseMetadata, timestamp: new Date(responseMetadata.timestamp), ...response } }
  }

  /** Rejects with an `APICallError` on an error status. */
  async #post({ route, headers }: ModelRoute, { abortSignal, headers: callHeaders = {}, ...body }: CallSettings) {
    const path = `/v${this.#version}/ai/${route}`
    const lowercaseHeaders = Object.entries(callHeaders).flatMap(([name, value]) =>
      value === undefined ? [] : [[name.toLowerCase(), value] as const],
    )
    const response = await this.#send({
      path,
      headers: { ...Object.fromEntries(lowercaseHeaders), ...headers },
      body: toJson(body),
      signal: abortSignal,
    })
    if (!response.ok) throw await createCallError(response, path, body)
    return { response, body }
  }

  async #fetchJson<T>(route: ModelRoute, call: CallSettings) {
    const { response, body } = await this.#post(route, call)
    const value: T = await response.json() // the gateway's own format
    return { value, request: { body }, response: { headers: Object.fromEntries(response.headers), body: value } }
  }
}

type GenerateBody<S extends Specification> = Omit<
  Awaited<ReturnType<SignalboxLanguageModel<S>['doGenerate']>>,
  'request' | 'response'
> & { response?: { id?: string; timestamp?: string; modelId?: string } }
type EmbedBody = Omit<Awaited<ReturnType<SignalboxEmbeddingModel<'v4'>['doEmbed']>>, 'response'>
type RerankBody = Omit<Awaited<ReturnType<SignalboxRerankingModel<'v4'>['doRerank']>>, 'response'>

/** The gateway's response, with its timestamp and the model that responded. */
type WithResponse<T> = T & { response: { timestamp: string; modelId: string } }
type ImagesBody = Omit<Awaited<ReturnType<SignalboxImageModel<'v4'>['doGenerate']>>, 'response'>
type SpeechBody = Omit<Awaited<ReturnType<SignalboxSpeechModel<'v4'>['doGenerate']>>, 'response'>
type Transcription = Awaited<ReturnType<SignalboxTranscriptionModel<'v4'>['doGenerate']>>
type TranscriptBody = Omit<Transcription, 'response' | 'language' | 'durationInSeconds'> &
  Partial<Pick<Transcription, 'language' | 'durationInSeconds'>>

/** Streams each part as soon as it arrives. Reads the response no faster than the parts are consumed. */
function streamParts<S extends Specification>(
  { body }: Response,
  { includeRawChunks, abortSignal }: LanguageCall,
  specification: S,
): ReadableStream<GatewayStreamPart<S>> {
  const reader = body?.getReader()
  const pendingParts: GatewayStreamPart<S>[] = []
  const parser = createSseParser(({ data }) => {
    const part: GatewayStreamPart<S> = JSON.parse(data) // the gateway's own format
    if (part.type === 'raw' && !includeRawChunks) return
    if (part.type === 'response-metadata' && part.timestamp) part.timestamp = new Date(part.timestamp)
    pendingParts.push(part)
  })
  const decoder = new TextDecoder()
  /** AI SDK 6 recognizes an abort only by the error's name, and then reports the signal's reason. */
  const rethrow = (error: unknown): never => {
    if (specification !== 'v3' || !abortSignal?.aborted) throw error
    throw Object.assign(new Error('The call was aborted.', { cause: error }), { name: 'AbortError' })
  }
  return new ReadableStream<GatewayStreamPart<S>>(
    {
      async pull(controller) {
        while (pendingParts.length === 0) {
          const { done, value } = (await reader?.read().catch(rethrow)) ?? { done: true, value: undefined }
          if (done) return controller.close()
          parser.push(decoder.decode(value, { stream: true }))
        }
        for (const part of pendingParts.splice(0)) controller.enqueue(part)
      },
      cancel: (reason) => reader?.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}
