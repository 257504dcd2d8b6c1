import { createKindForms } from '../create-kind-forms.ts'
import { clients } from './rerank-clients.ts'
import * as vendors from './rerank-vendors.ts'
import { compatible } from './vendors/compatible-rerank.ts'

/** The forms for reranking. */
export const rerankForms = createKindForms({
  clients,
  vendors: Object.values(vendors),
  fallback: compatible,
  estimatesTokens: true,
})
