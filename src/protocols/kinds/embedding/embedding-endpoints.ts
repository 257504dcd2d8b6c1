import { once } from '../../../lib/promises.ts'
import { createAiSdkEndpoints, createEndpoint, createOperation, type KindEndpoint } from '../endpoint.ts'

const operation = createOperation({ name: 'embed', kind: 'embedding' })
const loadForms = once(async () => (await import('./embedding-forms.ts')).embeddingForms)

const createDocs = (vendor: string, reference: string) => ({ summary: 'Embed text', vendor, reference })

const createGoogleEndpoint = (version: string, method: string, client: string): KindEndpoint =>
  createEndpoint({
    path: `/${version}/models/{model}:${method}`,
    format: 'gemini',
    client,
    operation,
    loadForms,
    docs: createDocs('Gemini', 'https://ai.google.dev/api/embeddings'),
  })

/** The endpoints for embeddings. Google's clients call either version of its API. */
export const embeddingEndpoints: readonly KindEndpoint[] = [
  createEndpoint({
    path: '/v1/embeddings',
    format: 'openai-chat',
    client: 'openai',
    operation,
    loadForms,
    docs: createDocs('OpenAI', 'https://platform.openai.com/docs/api-reference/embeddings'),
  }),
  createEndpoint({
    path: '/v2/embed',
    format: 'openai-chat',
    client: 'cohere',
    operation,
    loadForms,
    messageFields: ['message'], // Cohere's field
    docs: createDocs('Cohere', 'https://docs.cohere.com/reference/embed'),
  }),
  ...createAiSdkEndpoints('embedding-model', {
    operation,
    loadForms,
    summary: 'Embed text',
    page: 'embeddings',
  }),
  ...['v1beta', 'v1'].flatMap((version) => [
    createGoogleEndpoint(version, 'embedContent', 'gemini'),
    createGoogleEndpoint(version, 'batchEmbedContents', 'gemini-batch'),
  ]),
]
