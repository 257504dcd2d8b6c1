import { createRerankAdapter } from '../rerank-vendor.ts'

const RERANK_PATH = '/v2/rerank'

/** Version 2 of Cohere's API: https://docs.cohere.com/reference/rerank */
export const cohere = createRerankAdapter({
  name: 'cohere',
  providers: ['cohere'],
  baseUrl: 'https://api.cohere.com',
  adaptBaseUrl: (baseUrl) => baseUrl.replace(/(?:\/compatibility)?\/v[12]$/, ''),
  path: RERANK_PATH,
  supports: ['max_tokens_per_doc', 'priority'],
  passThrough: [
    {
      client: 'v2',
      path: () => RERANK_PATH,
      accepts: ({ documents, returnsDocuments, rankFields, options }) =>
        returnsDocuments === undefined &&
        rankFields === undefined &&
        !FOREIGN_OPTIONS.some((name) => name in options) &&
        documents.every((document) => typeof document === 'string' && document !== ''),
    },
  ],
})

/** Other vendors' options, which Cohere rejects. */
const FOREIGN_OPTIONS = ['max_chunks_per_doc', 'truncation']
