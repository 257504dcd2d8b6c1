import { plainBody, rerankVendor } from '../vendor.ts'

/** Together, which takes objects and the names of their members by itself. https://docs.together.ai/reference/rerank-1 */
export const together = rerankVendor({
  name: 'together',
  providers: ['together'],
  mostDocuments: 1_024,
  body(request) {
    const { documents, rankFields } = request
    const areObjects = documents.every((document) => typeof document !== 'string')
    return {
      ...plainBody(request),
      ...(areObjects && { documents }),
      ...(areObjects && rankFields && { rank_fields: rankFields }),
      return_documents: false,
    }
  },
})
