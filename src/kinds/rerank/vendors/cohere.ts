import { rerankVendor } from '../vendor.ts'

const PATH = '/v2/rerank'

/** Cohere, asked by the second version of its API. https://docs.cohere.com/reference/rerank */
export const cohere = rerankVendor({
  name: 'cohere',
  providers: ['cohere'],
  baseUrl: 'https://api.cohere.com',
  base: (address) => address.replace(/(?:\/compatibility)?\/v[12]$/, ''),
  path: PATH,
  takes: ['max_tokens_per_doc', 'priority'],
  passes: [
    {
      client: 'v2',
      path: () => PATH,
      isOpen: ({ documents, returnsDocuments, rankFields, options }) =>
        returnsDocuments === undefined &&
        rankFields === undefined &&
        !OF_OTHERS.some((name) => name in options) &&
        documents.every((document) => typeof document === 'string' && document !== ''),
    },
  ],
})

/** Options of other forms, which Cohere refuses. */
const OF_OTHERS = ['max_chunks_per_doc', 'truncation']
