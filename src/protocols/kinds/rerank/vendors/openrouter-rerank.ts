import { createRerankAdapter } from '../rerank-vendor.ts'

/** OpenRouter reports the cost of a response. https://openrouter.ai/docs/api-reference/rerank */
export const openrouter = createRerankAdapter({
  name: 'openrouter',
  providers: ['openrouter'],
  images: 'beside',
  supports: ['provider', 'session_id', 'trace', 'user'],
})
