import { once } from '../../../lib/promises.ts'
import { createAiSdkEndpoints, createEndpoint, createOperation, type KindEndpoint } from '../endpoint.ts'

const operation = createOperation({ name: 'rerank', kind: 'rerank' })
const loadAdapters = once(async () => (await import('./rerank-adapters.ts')).rerankAdapters)

const createRerankEndpoint = (version: 'v1' | 'v2'): KindEndpoint =>
  createEndpoint({
    path: `/${version}/rerank`,
    format: 'openai-chat',
    client: version,
    operation,
    loadAdapters,
    messageFields: ['message', 'detail'], // Cohere's field, and the field that Voyage and Jina use
  })

/** The endpoints for reranking. */
export const rerankEndpoints: readonly KindEndpoint[] = [
  createRerankEndpoint('v1'),
  createRerankEndpoint('v2'),
  ...createAiSdkEndpoints('reranking-model', {
    operation,
    loadAdapters,
  }),
]
