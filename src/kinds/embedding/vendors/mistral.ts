import { openaiShaped } from './openai-shaped.ts'

/** https://docs.mistral.ai/api/#tag/embeddings */
export const mistral = openaiShaped({
  name: 'mistral',
  providers: ['mistral'],
  dimensions: 'output_dimension',
  base64: { encoding_format: 'base64' },
})
