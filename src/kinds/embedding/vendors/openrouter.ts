import { openaiShaped } from './openai-shaped.ts'

/** https://openrouter.ai/docs/api-reference/embeddings. Some of its models send nothing when they are asked for base64. */
export const openrouter = openaiShaped({
  name: 'openrouter',
  providers: ['openrouter'],
  dimensions: 'dimensions',
  task: {
    name: 'input_type',
    words: {
      query: 'search_query',
      document: 'search_document',
      classification: 'classification',
      clustering: 'clustering',
      similarity: 'semantic_similarity',
    },
  },
  takesUser: true,
  takesTokens: true,
  keeps: 'all',
})
