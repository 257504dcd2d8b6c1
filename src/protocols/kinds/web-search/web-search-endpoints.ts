import { once } from '../../../lib/promises.ts'
import { createEndpoint, createOperation, type KindEndpoint } from '../endpoint.ts'

const operation = createOperation({
  name: 'search',
  kind: 'webSearch',
  isFinal: () => false, // another vendor may accept the request
  limits: { headersTimeoutMs: 30_000, totalTimeoutMs: 60_000 },
})

const endpoint = {
  format: 'openai-chat',
  client: 'search',
  operation,
  modelFields: ['model', 'search_tool_name', 'provider'],
  service: 'search',
  loadAdapters: once(async () => (await import('./web-search-adapters.ts')).webSearchAdapters),
} as const

/** The endpoints for web search. LiteLLM's clients put the model in the path. */
export const webSearchEndpoints: readonly KindEndpoint[] = [
  createEndpoint({ path: '/v1/search', ...endpoint }),
  createEndpoint({ path: '/v1/search/{model}', ...endpoint }),
]
