import { MAX_MISTRAL_TOKENS } from '../embedding-bounds.ts'
import { createOpenaiAdapter } from './openai-compatible-embedding.ts'

/** https://docs.mistral.ai/api/#tag/embeddings */
export const mistral = createOpenaiAdapter({
  name: 'mistral',
  providers: ['mistral'],
  getMaxTokens: () => MAX_MISTRAL_TOKENS,
  dimensions: 'output_dimension',
  base64: { encoding_format: 'base64' },
})
