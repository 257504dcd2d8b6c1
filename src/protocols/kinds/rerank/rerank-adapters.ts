import { createKindAdapters } from '../create-kind-adapters.ts'
import { clients } from './rerank-clients.ts'
import * as vendors from './rerank-vendors.ts'
import { compatible } from './vendors/compatible-rerank.ts'

/** The adapters for reranking. */
export const rerankAdapters = createKindAdapters({
  clients,
  vendors: Object.values(vendors),
  fallback: compatible,
  estimatesTokens: true,
})
