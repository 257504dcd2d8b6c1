import { platformFetch } from '../client/platform.ts'
import { createSseParser } from '../lib/sse.ts'
import type { ComboModel, RequestModels } from '../types.ts'
import { callError } from './call-error.ts'
import { type GatewayInProcess, inProcess, jsonOf, overFetch, type Transport } from './transport.ts'
import type {
  CallTerms,
  LanguageCall,
  SignalboxEmbeddingModel,
  SignalboxImageModel,
  SignalboxLanguageModel,
  SignalboxRerankingModel,
  SignalboxSpeechModel,
  SignalboxTranscriptionModel,
  Specification,
  StreamPartOf,
} from './types.ts'

export type { SignalboxCallOptions } from '../types/records/request-models.ts'
export type {
  SignalboxEmbeddingModel,
  SignalboxImageModel,
  SignalboxLanguageModel,
  SignalboxRerankingModel,
  SignalboxSpeechModel,
  SignalboxTranscriptionModel,
  Specification,
} from './types.ts'

/** Options of the models of a gateway in this process. */
export interface InProcessOptions<S extends Specification = 'v4'> {
  /** A client key, whose limits and models hold; default: none, as the host of the gateway is trusted. */
  apiKey?: string
  /** `v3` for AI SDK 6; default `v4`, for AI SDK 7. */
  specification?: S
}

/** The address of a gateway that listens, and options of its models. */
export interface RemoteOptions<S extends Specification = 'v4'> extends InProcessOptions<S> {
  /** Where it is mounted, such as `http://127.0.0.1:20128`. */
  baseURL: string
  /** Default: the platform's. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>
}

/** The name of a combo, an alias or `<provider>/<model>`; or a list of entries as in a combo: names, or objects with `model` and `params`. */
export type NamedModel = string | readonly ComboModel[]

/** Options of a combo, such as `strategy` and `on`, for each call of a list or of a name. */
export interface ModelTerms extends Omit<RequestModels, 'models'> {}

/**
 * A provider of the AI SDK, also for `createProviderRegistry`, `customProvider`, `wrapProvider` and `AI_SDK_DEFAULT_PROVIDER`. Called, it makes a
 * language model. The id of a model of a list is its names with commas between.
 */
export interface Signalbox<S extends Specification = 'v4'> {
  readonly specificationVersion: S
  (model: NamedModel, options?: ModelTerms): SignalboxLanguageModel<S>
  languageModel(model: NamedModel, options?: ModelTerms): SignalboxLanguageModel<S>
  embeddingModel(model: NamedModel, options?: ModelTerms): SignalboxEmbeddingModel<S>
  /** The older name of `embeddingModel`, which AI SDK 6 still accepts. */
  textEmbeddingModel(model: NamedModel, options?: ModelTerms): SignalboxEmbeddingModel<S>
  rerankingModel(model: NamedModel, options?: ModelTerms): SignalboxRerankingModel<S>
  imageModel(model: NamedModel, options?: ModelTerms): SignalboxImageModel<S>
  speechModel(model: NamedModel, options?: ModelTerms): SignalboxSpeechModel<S>
  transcriptionModel(model: NamedModel, options?: ModelTerms): SignalboxTranscriptionModel<S>
}

/**
 * Makes a provider of AI SDK 7, or of AI SDK 6 with `specification: 'v3'`. `gateway`: a gateway in this process, or the address of one.
 * Calls reject with an `APICallError` of the gateway's status, which the AI SDK does not repeat unless the gateway asks for that.
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
  const version = specification as S // the default is that of the type
  const send = isRemote
    ? overFetch({ baseURL: gateway.baseURL, apiKey, fetch: gateway.fetch ?? platformFetch })
    : inProcess(gateway, apiKey)
  const made =
    <M>(make: (models: Models<S>, modelId: string) => M) =>
    (model: NamedModel, terms?: ModelTerms): M => {
      const entries: ComboModel[] = Array.isArray(model) ? [...model] : [model]
      const by = typeof model === 'string' && !terms ? send : withList(send, { ...terms, models: entries })
      return make(new Models<S>(version, by), entries.map(nameOf).join(', '))
    }
  const languageModel = made((models, modelId) => models.language(modelId))
  const embeddingModel = made((models, modelId) => models.embedding(modelId))
  return Object.assign((model: NamedModel, terms?: ModelTerms) => languageModel(model, terms), {
    specificationVersion: version,
    languageModel,
    embeddingModel,
    textEmbeddingModel: embeddingModel,
    rerankingModel: made((models, modelId) => models.reranking(modelId)),
    imageModel: made((models, modelId) => models.image(modelId)),
    speechModel: made((models, modelId) => models.speech(modelId)),
    transcriptionModel: made((models, modelId) => models.transcription(modelId)),
  })
}

/** The name of an entry. A malformed entry has none: the gateway refuses it when the model is called. */
const nameOf = (entry: ComboModel | null | undefined) => (typeof entry === 'string' ? entry : entry?.model)

/**
 * Sends a list with each request, unless the request has one of its own. The id of the model only names the request in records, and is made to fit into
 * a header.
 */
function withList(send: Transport, list: RequestModels): Transport {
  const models = JSON.stringify(list).replace(/[^\x20-\x7e]/g, escaped)
  return ({ headers, ...sent }) => {
    const fit = Object.entries(headers).map(([name, value]) => [
      name,
      /^ai-.*model-id$/.test(name)
        ? value
            .replace(/[^\x20-\x7e]/g, '?')
            .trim()
            .slice(0, LONGEST_LABEL) || 'list'
        : value,
    ])
    return send({ ...sent, headers: { 'x-signalbox-models': models, ...Object.fromEntries(fit) } })
  }
}

const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** The longest name of a model that the gateway takes, in characters. */
const LONGEST_LABEL = 1_000

/** A request of a model: the last part of its path, and the headers of the protocol. */
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
    const asking = (streaming: boolean): ModelRoute => ({
      route: 'language-model',
      headers: {
        'ai-language-model-id': modelId,
        'ai-language-model-streaming': `${streaming}`,
        'ai-language-model-specification-version': this.#version,
      },
    })
    return {
      ...this.#base(modelId),
      supportedUrls: { '*/*': [/.*/] }, // the gateway fetches what its targets do not
      doGenerate: async (call) => {
        const { value, ...rest } = await this.#whole<GeneratedBody<S>>(asking(false), call)
        const { response = {}, ...answer } = value
        const { timestamp, ...facts } = response
        const at = timestamp === undefined ? {} : { timestamp: new Date(timestamp) }
        return { ...answer, request: rest.request, response: { ...facts, ...at, ...rest.response } }
      },
      doStream: async (call) => {
        const { response, body } = await this.#ask(asking(true), call)
        const stream = partsOf<S>(response, call, this.#specification)
        return { stream, request: { body }, response: { headers: Object.fromEntries(response.headers) } }
      },
    }
  }

  embedding(modelId: string): SignalboxEmbeddingModel<S> {
    return {
      ...this.#base(modelId),
      maxEmbeddingsPerCall: 2_048,
      supportsParallelCalls: true,
      doEmbed: async (call) => {
        const asked = this.#ofKind('embedding-model', modelId)
        const { value, response } = await this.#whole<EmbeddedBody>(asked, call)
        return { ...value, response }
      },
    }
  }

  reranking(modelId: string): SignalboxRerankingModel<S> {
    return {
      ...this.#base(modelId),
      doRerank: async (call) => {
        const asked = this.#ofKind('reranking-model', modelId)
        const { value, response } = await this.#whole<RankedBody>(asked, call)
        return { ...value, response }
      },
    }
  }

  image(modelId: string): SignalboxImageModel<S> {
    return {
      ...this.#base(modelId),
      maxImagesPerCall: 10,
      doGenerate: async (call) => {
        const { answer, response } = await this.#media<ImagesBody>('image-model', modelId, call)
        const { body: _, ...facts } = response // as large as the images
        return { ...answer, response: facts }
      },
    }
  }

  speech(modelId: string): SignalboxSpeechModel<S> {
    return {
      ...this.#base(modelId),
      doGenerate: async (call) => {
        const { answer, response } = await this.#media<SpeechBody>('speech-model', modelId, call)
        return { ...answer, response }
      },
    }
  }

  transcription(modelId: string): SignalboxTranscriptionModel<S> {
    return {
      ...this.#base(modelId),
      doGenerate: async (call) => {
        const { answer, response } = await this.#media<TranscriptBody>('transcription-model', modelId, call)
        return { language: undefined, durationInSeconds: undefined, ...answer, response }
      },
    }
  }

  #base(modelId: string) {
    return { specificationVersion: this.#specification, provider: 'signalbox', modelId }
  }

  #ofKind(route: string, modelId: string): ModelRoute {
    return { route, headers: { 'ai-model-id': modelId, [`ai-${route}-specification-version`]: this.#version } }
  }

  async #media<T>(route: string, modelId: string, call: CallTerms) {
    const { value, response } = await this.#whole<Timed<T>>(this.#ofKind(route, modelId), call)
    const { response: own, ...answer } = value
    return { answer, response: { ...own, timestamp: new Date(own.timestamp), ...response } }
  }

  /** Rejects with an `APICallError` on a status of failure. */
  async #ask({ route, headers }: ModelRoute, { abortSignal, headers: given = {}, ...body }: CallTerms) {
    const path = `/v${this.#version}/ai/${route}`
    const own = Object.entries(given).flatMap(([name, value]) =>
      value === undefined ? [] : [[name.toLowerCase(), value] as const],
    )
    const response = await this.#send({
      path,
      headers: { ...Object.fromEntries(own), ...headers },
      body: jsonOf(body),
      signal: abortSignal,
    })
    if (!response.ok) throw await callError(response, path, body)
    return { response, body }
  }

  async #whole<T>(asked: ModelRoute, call: CallTerms) {
    const { response, body } = await this.#ask(asked, call)
    const value: T = await response.json() // as the gateway writes it
    return { value, request: { body }, response: { headers: Object.fromEntries(response.headers), body: value } }
  }
}

type GeneratedBody<S extends Specification> = Omit<
  Awaited<ReturnType<SignalboxLanguageModel<S>['doGenerate']>>,
  'request' | 'response'
> & { response?: { id?: string; timestamp?: string; modelId?: string } }
type EmbeddedBody = Omit<Awaited<ReturnType<SignalboxEmbeddingModel<'v4'>['doEmbed']>>, 'response'>
type RankedBody = Omit<Awaited<ReturnType<SignalboxRerankingModel<'v4'>['doRerank']>>, 'response'>

/** An answer as the gateway writes it: with the time, and the model that has answered. */
type Timed<T> = T & { response: { timestamp: string; modelId: string } }
type ImagesBody = Omit<Awaited<ReturnType<SignalboxImageModel<'v4'>['doGenerate']>>, 'response'>
type SpeechBody = Omit<Awaited<ReturnType<SignalboxSpeechModel<'v4'>['doGenerate']>>, 'response'>
type Heard = Awaited<ReturnType<SignalboxTranscriptionModel<'v4'>['doGenerate']>>
type TranscriptBody = Omit<Heard, 'response' | 'language' | 'durationInSeconds'> &
  Partial<Pick<Heard, 'language' | 'durationInSeconds'>>

/** The parts of a stream, each as soon as its bytes have come. The stream is read no faster than its parts are taken. */
function partsOf<S extends Specification>(
  { body }: Response,
  { includeRawChunks, abortSignal }: LanguageCall,
  specification: S,
): ReadableStream<StreamPartOf<S>> {
  const reader = body?.getReader()
  const ready: StreamPartOf<S>[] = []
  const parser = createSseParser(({ data }) => {
    const part: StreamPartOf<S> = JSON.parse(data) // as the gateway writes it
    if (part.type === 'raw' && !includeRawChunks) return
    if (part.type === 'response-metadata' && part.timestamp) part.timestamp = new Date(part.timestamp)
    ready.push(part)
  })
  const decoder = new TextDecoder()
  /** AI SDK 6 recognises an abort only by the name of the error, and then reports the reason of the signal. */
  const fail = (thrown: unknown): never => {
    if (specification !== 'v3' || !abortSignal?.aborted) throw thrown
    throw Object.assign(new Error('The call was aborted.', { cause: thrown }), { name: 'AbortError' })
  }
  return new ReadableStream<StreamPartOf<S>>(
    {
      async pull(controller) {
        while (ready.length === 0) {
          const { done, value } = (await reader?.read().catch(fail)) ?? { done: true, value: undefined }
          if (done) return controller.close()
          parser.push(decoder.decode(value, { stream: true }))
        }
        for (const part of ready.splice(0)) controller.enqueue(part)
      },
      cancel: (reason) => reader?.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}
