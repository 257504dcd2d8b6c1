import { once } from '../../../lib/promises.ts'
import { createAiSdkEndpoints, createEndpoint, createOperation, type KindEndpoint } from '../endpoint.ts'

const operation = createOperation({ name: 'embed', kind: 'embedding' })
const loadAdapters = once(async () => (await import('./embedding-adapters.ts')).embeddingAdapters)

const createGoogleEndpoint = (version: string, method: string, client: string): KindEndpoint =>
  createEndpoint({
    path: `/${version}/models/{model}:${method}`,
    format: 'gemini',
    client,
    operation,
    loadAdapters,
  })

/** The endpoints for embeddings. Google's clients call either version of its API. */
export const embeddingEndpoints: readonly KindEndpoint[] = [
  createEndpoint({
    path: '/v1/embeddings',
    format: 'openai-chat',
    client: 'openai',
    operation,
    loadAdapters,
  }),
  createEndpoint({
    path: '/v2/embed',
    format: 'openai-chat',
    client: 'cohere',
    operation,
    loadAdapters,
    messageFields: ['message'], // Cohere's clients read the message from this field
  }),
  ...createAiSdkEndpoints('embedding-model', {
    operation,
    loadAdapters,
  }),
  ...['v1beta', 'v1'].flatMap((version) => [
    createGoogleEndpoint(version, 'embedContent', 'gemini'),
    createGoogleEndpoint(version, 'batchEmbedContents', 'gemini-batch'),
  ]),
]
