import { rerankVendor } from '../vendor.ts'

/** OpenRouter, which says what an answer costs. https://openrouter.ai/docs/api-reference/rerank */
export const openrouter = rerankVendor({
  name: 'openrouter',
  providers: ['openrouter'],
  images: 'beside',
  takes: ['provider', 'session_id', 'trace', 'user'],
})
