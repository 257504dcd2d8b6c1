import { rerankVendor } from '../vendor.ts'

/** Voyage, which refuses every member that it does not know. https://docs.voyageai.com/reference/reranker-api */
export const voyage = rerankVendor({
  name: 'voyage',
  providers: ['voyage'],
  mostDocuments: 1_000,
  takes: ['truncation'],
  body: ({ model, query, plain, topN, options }) => ({ model, query, documents: plain, top_k: topN, ...options }),
})
