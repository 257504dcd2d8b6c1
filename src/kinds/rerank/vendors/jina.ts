import { plainBody, rerankVendor } from '../vendor.ts'

/** Jina, which sends the documents back unless it is told not to. https://api.jina.ai/redoc */
export const jina = rerankVendor({
  name: 'jina',
  providers: ['jina'],
  mostDocuments: 2_048,
  images: 'alone',
  body: (request) => ({ ...plainBody(request), return_documents: false }),
})
