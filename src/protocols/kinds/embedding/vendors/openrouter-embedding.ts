import { getModelTokens } from '../embedding-bounds.ts'
import { createOpenaiAdapter } from './openai-compatible-embedding.ts'

/** https://openrouter.ai/docs/api-reference/embeddings. Some of its models return nothing if the request asks for base64. */
export const openrouter = createOpenaiAdapter({
  name: 'openrouter',
  providers: ['openrouter'],
  maxInputs: 2_048,
  getMaxTokens: getModelTokens,
  dimensions: 'dimensions',
  task: {
    name: 'input_type',
    names: {
      query: 'search_query',
      document: 'search_document',
      classification: 'classification',
      clustering: 'clustering',
      similarity: 'semantic_similarity',
    },
  },
  supportsUser: true,
  supportsTokens: true,
  keepsOptions: 'all',
})
