import { createRerankAdapter, writeCohereBody } from '../rerank-vendor.ts'

/** Together supports objects, including the names of their text fields. https://docs.together.ai/reference/rerank-1 */
export const together = createRerankAdapter({
  name: 'together',
  providers: ['together'],
  maxDocuments: 1_024,
  writeBody(request) {
    const { documents, rankFields } = request
    const areObjects = documents.every((document) => typeof document !== 'string')
    return {
      ...writeCohereBody(request),
      ...(areObjects && { documents }),
      ...(areObjects && rankFields && { rank_fields: rankFields }),
      return_documents: false,
    }
  },
})
