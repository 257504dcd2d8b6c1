import type { KindSample } from '../samples.ts'

const documents = ['a tree', 'a red fruit']

export const rerank: KindSample = {
  bodies: {
    v1: { query: 'red fruit', documents, top_n: 1, return_documents: true },
    'ai-sdk': { query: 'red fruit', documents: { type: 'text', values: documents }, topN: 1 },
    v2: { query: 'red fruit', documents, top_n: 1 },
  },
  path: '/rerank',
  response: {
    id: 'rerank-1',
    model: 'm',
    results: [{ index: 1, relevance_score: 0.9, document: { text: 'a red fruit' } }],
    usage: { total_tokens: 9 },
  },
}
