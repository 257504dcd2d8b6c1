import { createRerankAdapter } from '../rerank-vendor.ts'

/**
 * The text-embeddings-inference server. It serves a single model, always ranks all documents, and rejects strings that are too long unless it may
 * truncate them. https://huggingface.github.io/text-embeddings-inference
 */
export const tei = createRerankAdapter({
  name: 'tei',
  adaptBaseUrl: (baseUrl) => baseUrl.replace(/\/v1$/, ''), // only the server's embeddings are under /v1
  supports: ['truncation'],
  arrayField: 'results',
  readHeaderUsage(header) {
    const tokens = Number(header('x-compute-tokens') ?? Number.NaN)
    return Number.isInteger(tokens) && tokens > 0 ? { inputTokens: tokens, outputTokens: 0 } : undefined
  },
  writeBody: ({ query, vendorDocuments, options: { truncation = true } }) => ({
    query,
    texts: vendorDocuments,
    truncate: truncation,
  }),
})
