import { createRerankAdapter, writeCohereBody } from '../rerank-vendor.ts'

/** Jina returns the documents unless told not to. https://api.jina.ai/redoc */
export const jina = createRerankAdapter({
  name: 'jina',
  providers: ['jina'],
  maxDocuments: 2_048,
  images: 'alone',
  writeBody: (request) => ({ ...writeCohereBody(request), return_documents: false }),
})
