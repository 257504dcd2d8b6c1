import { createOpenaiAdapter } from './openai-compatible-embedding.ts'

/** https://api.jina.ai/redoc#tag/embeddings */
export const jina = createOpenaiAdapter({
  name: 'jina',
  providers: ['jina'],
  maxInputs: 2_048,
  dimensions: 'dimensions',
  task: {
    name: 'task',
    names: {
      query: 'retrieval.query',
      document: 'retrieval.passage',
      similarity: 'text-matching',
      classification: 'classification',
      clustering: 'separation',
    },
  },
  truncation: { defaultMode: 'none', fields: { none: { truncate: false }, end: { truncate: true } } },
  base64: { embedding_type: 'base64' },
})
