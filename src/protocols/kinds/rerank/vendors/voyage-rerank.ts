import { createRerankAdapter } from '../rerank-vendor.ts'

/** Voyage rejects unknown fields. https://docs.voyageai.com/reference/reranker-api */
export const voyage = createRerankAdapter({
  name: 'voyage',
  providers: ['voyage'],
  maxDocuments: 1_000,
  supports: ['truncation'],
  writeBody: ({ model, query, vendorDocuments, topN, options }) => ({
    model,
    query,
    documents: vendorDocuments,
    top_k: topN,
    ...options,
  }),
})
