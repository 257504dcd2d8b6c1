import { createKindAdapters } from '../create-kind-adapters.ts'
import { clients } from './rerank-clients.ts'
import { bedrock } from './vendors/bedrock-rerank.ts'
import { cohere } from './vendors/cohere-rerank.ts'
import { cohereCompatible } from './vendors/compatible-rerank.ts'
import { jina } from './vendors/jina-rerank.ts'
import { openrouter } from './vendors/openrouter-rerank.ts'
import { tei } from './vendors/tei-rerank.ts'
import { together } from './vendors/together-rerank.ts'
import { voyage } from './vendors/voyage-rerank.ts'

/** All rerank vendors. At most one matches a target, so their order doesn't matter. */
export const rerankVendors = [bedrock, cohere, jina, openrouter, tei, together, voyage]

/** The adapters for reranking. */
export const rerankAdapters = createKindAdapters({
  clients,
  vendors: rerankVendors,
  fallback: cohereCompatible,
  estimatesTokens: true,
})
