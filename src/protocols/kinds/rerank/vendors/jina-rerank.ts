import { createRerankForm, writeCohereBody } from '../rerank-vendor.ts'

/** Jina returns the documents unless that is disabled. https://api.jina.ai/redoc */
export const jina = createRerankForm({
  name: 'jina',
  providers: ['jina'],
  maxDocuments: 2_048,
  images: 'alone',
  writeBody: (request) => ({ ...writeCohereBody(request), return_documents: false }),
})
