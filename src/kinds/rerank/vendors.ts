/* The vendors of rerank models, a line for each. Which of them a target is asked as, each says itself, so that their order does not matter. */
export { bedrock } from './vendors/bedrock.ts'
export { cohere } from './vendors/cohere.ts'
export { jina } from './vendors/jina.ts'
export { openrouter } from './vendors/openrouter.ts'
export { tei } from './vendors/tei.ts'
export { together } from './vendors/together.ts'
export { voyage } from './vendors/voyage.ts'
