import { kindForms } from '../carry.ts'
import { clients } from './clients.ts'
import { bedrock } from './vendors/bedrock.ts'
import { cohere } from './vendors/cohere.ts'
import { compatible } from './vendors/compatible.ts'
import { jina } from './vendors/jina.ts'
import { openrouter } from './vendors/openrouter.ts'
import { tei } from './vendors/tei.ts'
import { together } from './vendors/together.ts'
import { voyage } from './vendors/voyage.ts'

/** The forms of reranking; a vendor is a line here. */
export const rerankForms = kindForms({
  clients,
  vendors: [bedrock, cohere, jina, openrouter, tei, together, voyage],
  otherwise: compatible,
})
