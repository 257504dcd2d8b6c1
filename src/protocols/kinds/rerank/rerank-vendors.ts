/* All rerank vendors. At most one matches a target, so their order doesn't matter. */
export { bedrock } from './vendors/bedrock-rerank.ts'
export { cohere } from './vendors/cohere-rerank.ts'
export { jina } from './vendors/jina-rerank.ts'
export { openrouter } from './vendors/openrouter-rerank.ts'
export { tei } from './vendors/tei-rerank.ts'
export { together } from './vendors/together-rerank.ts'
export { voyage } from './vendors/voyage-rerank.ts'
