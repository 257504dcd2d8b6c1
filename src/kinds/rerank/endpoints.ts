import { once } from '../../lib/promises.ts'
import { aiSdkEndpoints, type KindEndpoint, kindEndpoint, kindOperation } from '../endpoint.ts'
import { rerankBound } from './bound.ts'

const operation = kindOperation({ name: 'rerank', kind: 'rerank' })
const loadForms = once(async () => (await import('./forms.ts')).rerankForms)

const endpoint = (version: 'v1' | 'v2', reference: string): KindEndpoint =>
  kindEndpoint({
    path: `/${version}/rerank`,
    format: 'openai-chat',
    client: version,
    operation,
    loadForms,
    bound: rerankBound,
    messageIn: ['message', 'detail'], // as Cohere, and as Voyage and Jina have it
    words: { summary: 'Rank documents by a query', vendor: 'Cohere', reference },
  })

/** Where documents are ranked. */
export const rerankEndpoints: readonly KindEndpoint[] = [
  endpoint('v1', 'https://docs.cohere.com/v1/reference/rerank'),
  endpoint('v2', 'https://docs.cohere.com/reference/rerank'),
  ...aiSdkEndpoints('reranking-model', {
    operation,
    loadForms,
    bound: rerankBound,
    summary: 'Rank documents by a query',
    page: 'reranking',
  }),
]
