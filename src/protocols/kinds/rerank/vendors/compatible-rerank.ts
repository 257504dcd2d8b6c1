import { createRerankAdapter } from '../rerank-vendor.ts'

/** Servers such as vLLM and Infinity, and unknown vendors. They get all options that clients send. */
export const cohereCompatible = createRerankAdapter({ name: 'compatible', supports: 'all' })
