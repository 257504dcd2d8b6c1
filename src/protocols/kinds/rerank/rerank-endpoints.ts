import { once } from '../../../lib/promises.ts'
import { createAiSdkEndpoints, createEndpoint, createOperation, type KindEndpoint } from '../endpoint.ts'
import { rerankBound } from './rerank-bound.ts'

const operation = createOperation({ name: 'rerank', kind: 'rerank' })
const loadForms = once(async () => (await import('./rerank-forms.ts')).rerankForms)

const createRerankEndpoint = (version: 'v1' | 'v2', reference: string): KindEndpoint =>
  createEndpoint({
    path: `/${version}/rerank`,
    format: 'openai-chat',
    client: version,
    operation,
    loadForms,
    bound: rerankBound,
    messageFields: ['message', 'detail'], // Cohere's field, and the one that Voyage and Jina use
    docs: { summary: 'Rerank documents by a query', vendor: 'Cohere', reference },
  })

/** The endpoints for reranking. */
export const rerankEndpoints: readonly KindEndpoint[] = [
  createRerankEndpoint('v1', 'https://docs.cohere.com/v1/reference/rerank'),
  createRerankEndpoint('v2', 'https://docs.cohere.com/reference/rerank'),
  ...createAiSdkEndpoints('reranking-model', {
    operation,
    loadForms,
    bound: rerankBound,
    summary: 'Rerank documents by a query',
    page: 'reranking',
  }),
]
