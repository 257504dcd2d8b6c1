import { createRerankForm } from '../rerank-vendor.ts'

/** OpenRouter reports the cost of a response. https://openrouter.ai/docs/api-reference/rerank */
export const openrouter = createRerankForm({
  name: 'openrouter',
  providers: ['openrouter'],
  images: 'beside',
  supports: ['provider', 'session_id', 'trace', 'user'],
})
