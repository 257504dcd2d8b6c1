import { openaiShaped } from './openai-shaped.ts'

/** https://api.jina.ai/redoc#tag/embeddings */
export const jina = openaiShaped({
  name: 'jina',
  providers: ['jina'],
  most: 2_048,
  dimensions: 'dimensions',
  task: {
    name: 'task',
    words: {
      query: 'retrieval.query',
      document: 'retrieval.passage',
      similarity: 'text-matching',
      classification: 'classification',
      clustering: 'separation',
    },
  },
  truncation: { own: 'none', words: { none: { truncate: false }, end: { truncate: true } } },
  base64: { embedding_type: 'base64' },
})
