import { createRerankForm } from '../rerank-vendor.ts'

/** Servers such as vLLM and Infinity, and unknown vendors. They get all options that clients send. */
export const compatible = createRerankForm({ name: 'compatible', supports: 'all' })
