import type { Connection } from '../../../src/types.ts'
import { type Call, json } from '../../pipeline/support/upstream.ts'

/** Returns the vector for a text in every fake: 32-bit floats, the first of which identifies the text. */
export const getVector = (text: string, width = 4): number[] =>
  Array.from({ length: width }, (_, index) =>
    Math.fround(text.length / 7 + (text.charCodeAt(index % text.length) - index * 31) / 1_000),
  )

export const getBase64 = (vector: readonly number[]): string => {
  const buffer = Buffer.alloc(vector.length * 4)
  for (const [index, number] of vector.entries()) buffer.writeFloatLE(number, index * 4)
  return buffer.toString('base64')
}

/** A request to a vendor, in vendor-neutral terms. */
export interface Received {
  texts: string[]
  task?: unknown
  width?: unknown
  truncation?: unknown
}

/** A vendor that validates its requests, and rejects unknown fields like the real vendor. */
export interface FakeVendor {
  connection: Partial<Connection> & { provider: string }
  model: string
  /** The expected request path. `{method}` stands for a method that depends on the number of texts. */
  url: RegExp
  /** The value that marks the input as a query. */
  query: unknown
  /** The options that the vendor doesn't support, by their vendor-neutral names. */
  lacks?: ReadonlyArray<'width' | 'task' | 'usage'>
  /** Converts a request to vendor-neutral terms. */
  read(sent: Record<string, unknown>, call: Call): Received
  respond(seen: Received, call: Call): object
  headers?(seen: Received): Record<string, string>
}

type Sent = Record<string, unknown>

/** Throws if there are fields that the vendor doesn't know. */
function only(sent: Sent, names: readonly string[]): void {
  const strange = Object.keys(sent).filter((name) => !names.includes(name))
  if (strange.length > 0) throw new TypeError(`Unknown members: ${strange.join(', ')}`)
}

const getTexts = (value: unknown): string[] => {
  const list = Array.isArray(value) ? value : [value]
  if (!list.every((item) => typeof item === 'string')) throw new TypeError('These are no texts')
  return list
}

const vectors = ({ texts, width }: Received) =>
  texts.map((text) => getVector(text, typeof width === 'number' ? width : 4))

/** Creates an OpenAI-compatible vendor with these fields in addition to `model` and `input`. */
function shaped(
  connection: FakeVendor['connection'] | string,
  model: string,
  {
    url,
    width = 'dimensions',
    task,
    query,
    cut,
    base64,
    more = [],
  }: {
    url: RegExp
    width?: string | null
    task?: string
    query?: unknown
    cut?: string
    base64?: string
    more?: string[]
  },
): FakeVendor {
  const known = [
    'model',
    'input',
    ...more,
    ...[width, task, cut, base64].filter((name) => name !== undefined && name !== null),
  ]
  return {
    connection: typeof connection === 'string' ? { provider: connection } : connection,
    model,
    url,
    query,
    lacks: [...(width ? [] : (['width'] as const)), ...(task ? [] : (['task'] as const))],
    read(sent) {
      only(sent, known)
      if (sent.model !== model) throw new TypeError(`What is the model ${String(sent.model)}?`)
      return {
        texts: getTexts(sent.input),
        ...(task && { task: sent[task] }),
        ...(width && { width: sent[width] }),
        ...(cut && { truncation: sent[cut] }),
      }
    },
    respond(received, { body }) {
      const packs = base64 !== undefined && JSON.parse(body)[base64] === 'base64'
      const data = vectors(received).map((vector, index) => ({
        object: 'embedding',
        index,
        embedding: packs ? getBase64(vector) : vector,
      }))
      return {
        object: 'list',
        data,
        model,
        usage: { prompt_tokens: 3 * received.texts.length, total_tokens: 3 * received.texts.length },
      }
    },
  }
}

const google = (sent: Sent): { text: string; task: unknown; width: unknown } => {
  only(sent, ['model', 'content', 'taskType', 'title', 'outputDimensionality'])
  const { content, taskType, outputDimensionality } = sent as { content: { parts: { text: string }[] } } & Sent
  return { text: content.parts.map(({ text }) => text).join(''), task: taskType, width: outputDimensionality }
}

const KEY = 'ABSKQmVkcm9ja0FQSUtleS1leGFtcGxl'
const bedrock = (
  model: string,
  rest: Pick<FakeVendor, 'read' | 'respond' | 'query'> & Partial<FakeVendor>,
): FakeVendor => ({
  connection: { provider: 'bedrock', apiKey: KEY, providerSpecificData: { region: 'eu-west-1' } },
  model,
  url: new RegExp(`^https://bedrock-runtime\\.eu-west-1\\.amazonaws\\.com/model/${encodeURIComponent(model)}/invoke$`),
  headers: ({ texts }) => ({ 'x-amzn-bedrock-input-token-count': String(3 * texts.length) }),
  ...rest,
})

const vertexUrl = (method: string) =>
  new RegExp(
    `^https://aiplatform\\.googleapis\\.com/v1beta1/projects/mine/locations/global/publishers/google/models/[\\w-]+:${method}$`,
  )
const vertex = { provider: 'vertex', apiKey: 'ya29.token', providerSpecificData: { project: 'mine' } }

const readCohere = (sent: Sent): Received => {
  only(sent, ['model', 'texts', 'input_type', 'embedding_types', 'output_dimension', 'truncate'])
  if (sent.input_type === undefined) throw new TypeError('input_type is required')
  return { texts: getTexts(sent.texts), task: sent.input_type, width: sent.output_dimension, truncation: sent.truncate }
}

/** Every vendor format, as documented by the vendors. */
export const vendors: Readonly<Record<string, FakeVendor>> = {
  OpenAI: shaped('openai', 'text-embedding-3-small', {
    url: /^https:\/\/api\.openai\.com\/v1\/embeddings$/,
    base64: 'encoding_format',
    more: ['user'],
  }),
  Azure: shaped(
    { provider: 'azure', apiKey: 'azure-key-1', providerSpecificData: { resource: 'mine' } },
    'text-embedding-3-small',
    {
      url: /^https:\/\/mine\.openai\.azure\.com\/openai\/v1\/embeddings$/,
      base64: 'encoding_format',
      more: ['user'],
    },
  ),
  Nebius: shaped('nebius', 'Qwen/Qwen3-Embedding-8B', {
    url: /^https:\/\/api\.tokenfactory\.nebius\.com\/v1\/embeddings$/,
    base64: 'encoding_format',
    more: ['user', 'input_type', 'truncate'],
  }),
  OpenRouter: shaped('openrouter', 'openai/text-embedding-3-small', {
    url: /^https:\/\/openrouter\.ai\/api\/v1\/embeddings$/,
    task: 'input_type',
    query: 'search_query',
    more: ['user', 'truncate'],
  }),
  Ollama: shaped('ollama', 'nomic-embed-text', {
    url: /^http:\/\/localhost:11434\/v1\/embeddings$/,
    more: ['user', 'input_type', 'truncate'],
  }),
  Together: shaped('together', 'intfloat/multilingual-e5-large-instruct', {
    url: /^https:\/\/api\.together\.ai\/v1\/embeddings$/,
    width: null,
  }),
  Mistral: shaped('mistral', 'codestral-embed', {
    url: /^https:\/\/api\.mistral\.ai\/v1\/embeddings$/,
    width: 'output_dimension',
    base64: 'encoding_format',
  }),
  Voyage: shaped('voyage', 'voyage-4', {
    url: /^https:\/\/api\.voyageai\.com\/v1\/embeddings$/,
    width: 'output_dimension',
    task: 'input_type',
    query: 'query',
    cut: 'truncation',
    base64: 'encoding_format',
  }),
  Jina: shaped('jina', 'jina-embeddings-v4', {
    url: /^https:\/\/api\.jina\.ai\/v1\/embeddings$/,
    task: 'task',
    query: 'retrieval.query',
    cut: 'truncate',
    base64: 'embedding_type',
  }),
  NVIDIA: shaped('nvidia-nim', 'nvidia/nv-embedqa-e5-v5', {
    url: /^https:\/\/integrate\.api\.nvidia\.com\/v1\/embeddings$/,
    task: 'input_type',
    query: 'query',
    cut: 'truncate',
    base64: 'encoding_format',
    more: ['user'],
  }),
  "a custom server with Voyage's API": shaped(
    { provider: 'openai-compatible-lab', providerSpecificData: { baseUrl: 'http://lab.test/v1', format: 'voyage' } },
    'lab',
    {
      url: /^http:\/\/lab\.test\/v1\/embeddings$/,
      width: 'output_dimension',
      task: 'input_type',
      query: 'query',
      cut: 'truncation',
      base64: 'encoding_format',
    },
  ),
  'a server set to the Responses format': shaped(
    {
      provider: 'openai-compatible-own',
      providerSpecificData: { baseUrl: 'http://own.test/v1', format: 'openai-responses' },
    },
    'own',
    {
      url: /^http:\/\/own\.test\/v1\/embeddings$/,
      base64: 'encoding_format',
      more: ['user', 'input_type', 'truncate'],
    },
  ),
  Cohere: {
    connection: { provider: 'cohere' },
    model: 'embed-v4.0',
    url: /^https:\/\/api\.cohere\.com\/v2\/embed$/,
    query: 'search_query',
    read: readCohere,
    respond: (received) => ({
      id: 'e1',
      texts: received.texts,
      embeddings: { float: vectors(received) },
      meta: { api_version: { version: '2' }, billed_units: { input_tokens: 3 * received.texts.length } },
      response_type: 'embeddings_by_type',
    }),
  },
  Google: {
    connection: { provider: 'google' },
    model: 'gemini-embedding-001',
    url: /^https:\/\/generativelanguage\.googleapis\.com\/v1beta\/models\/gemini-embedding-001:(?:embedContent|batchEmbedContents)$/,
    query: 'RETRIEVAL_QUERY',
    lacks: ['usage'],
    read(sent, { url }) {
      const isBatch = url.pathname.endsWith(':batchEmbedContents')
      if (isBatch) only(sent, ['requests'])
      const requests = isBatch ? (sent.requests as Sent[]) : [sent]
      if (isBatch && requests.some(({ model }) => model !== 'models/gemini-embedding-001'))
        throw new TypeError('model is required in each request')
      const read = requests.map(google)
      return { texts: read.map(({ text }) => text), task: read[0]?.task, width: read[0]?.width }
    },
    respond(received, { url }) {
      const embeddings = vectors(received).map((values) => ({ values }))
      return url.pathname.endsWith(':batchEmbedContents') ? { embeddings } : { embedding: embeddings[0] }
    },
  },
  'Vertex AI': {
    connection: vertex,
    model: 'text-embedding-005',
    url: vertexUrl('predict'),
    query: 'RETRIEVAL_QUERY',
    read(sent) {
      only(sent, ['instances', 'parameters'])
      const { instances, parameters = {} } = sent as { instances: Sent[]; parameters?: Sent }
      for (const instance of instances) only(instance, ['content', 'task_type', 'title'])
      only(parameters, ['outputDimensionality', 'autoTruncate'])
      return {
        texts: getTexts(instances.map(({ content }) => content)),
        task: instances[0]?.task_type,
        width: parameters.outputDimensionality,
        truncation: parameters.autoTruncate,
      }
    },
    respond: (received) => ({
      predictions: vectors(received).map((values) => ({
        embeddings: { values, statistics: { token_count: 3, truncated: false } },
      })),
    }),
  },
  'Vertex AI, one content at a time': {
    connection: vertex,
    model: 'gemini-embedding-2',
    url: vertexUrl('embedContent'),
    query: undefined, // the query is part of the text
    read(sent) {
      only(sent, ['content', 'embedContentConfig'])
      const { embedContentConfig: config = {}, content } = sent as { embedContentConfig?: Sent; content: unknown }
      only(config, ['outputDimensionality', 'taskType', 'title', 'autoTruncate'])
      const { text } = google({ content })
      return {
        texts: [text.replace(/^(?:task: search result \| query|title: none \| text): /, '')],
        width: config.outputDimensionality,
      }
    },
    respond: (received) => ({ embedding: { values: vectors(received)[0] }, usageMetadata: { promptTokenCount: 3 } }),
  },
  'Titan on Bedrock': bedrock('amazon.titan-embed-text-v2:0', {
    query: undefined,
    lacks: ['task'],
    read(sent) {
      only(sent, ['inputText', 'dimensions', 'normalize'])
      return { texts: getTexts(sent.inputText), width: sent.dimensions }
    },
    respond: (received) => ({ embedding: vectors(received)[0], inputTextTokenCount: 3 }),
  }),
  'Cohere on Bedrock': bedrock('us.cohere.embed-v4:0', {
    query: 'search_query',
    read(sent) {
      if ('model' in sent) throw new TypeError('The model is in the path')
      return readCohere(sent)
    },
    respond: (received) => ({ id: 'e1', texts: received.texts, embeddings: { float: vectors(received) } }),
  }),
  'Cohere 3 on Bedrock': bedrock('cohere.embed-english-v3', {
    query: 'search_query',
    read: readCohere,
    respond: (received) => ({ id: 'e1', texts: received.texts, embeddings: vectors(received) }),
  }),
  'Nova on Bedrock': bedrock('amazon.nova-2-multimodal-embeddings-v1:0', {
    query: 'TEXT_RETRIEVAL',
    read(sent) {
      only(sent, ['taskType', 'singleEmbeddingParams'])
      const { embeddingPurpose, embeddingDimension, text, ...rest } = sent.singleEmbeddingParams as Sent
      only(rest, [])
      const { value, truncationMode } = text as Sent
      return { texts: getTexts(value), task: embeddingPurpose, width: embeddingDimension, truncation: truncationMode }
    },
    respond: (received) => ({
      embeddings: [{ embeddingType: 'TEXT', embedding: vectors(received)[0] }],
      inputTokenCount: 3,
    }),
  }),
}

/** Responds like the vendor, or with a 422 that explains the problem. */
export function respond({ read, respond: createResponse, headers, url }: FakeVendor, onSeen: (seen: Received) => void) {
  return (call: Call): Response => {
    if (!url.test(call.url.href)) return json({ message: `There is nothing at ${call.url.href}` }, 404)
    try {
      const received = read(JSON.parse(call.body), call)
      onSeen(received)
      return json(createResponse(received, call), 200, headers?.(received) ?? {})
    } catch (error) {
      return json({ message: String(error) }, 422)
    }
  }
}
