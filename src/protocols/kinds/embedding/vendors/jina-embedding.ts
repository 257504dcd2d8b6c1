import { createOpenaiAdapter } from './openai-compatible-embedding.ts'

/** https://api.jina.ai/redoc#tag/embeddings */
export const jina = createOpenaiAdapter({
  name: 'jina',
  providers: ['jina'],
  maxInputs: 2_048,
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
