import { isObject, type JsonObject } from '../../../lib/json.ts'
import { once } from '../../../lib/promises.ts'
import type { RequestBound } from '../../formats/format.ts'
import { createEndpoint, createOperation, type KindEndpoint } from '../endpoint.ts'

const operation = createOperation({
  name: 'search',
  kind: 'webSearch',
  endsAt: () => false, // another vendor may accept it
  limits: { headersTimeoutMs: 30_000, totalTimeoutMs: 60_000 },
})

/** For each query, vendors charge per ten results, and double for advanced depth. Full pages are charged separately. */
const bound: RequestBound = {
  hasNoOutput: true,
  inputTokens: () => 0,
  units({ query, max_results: maxResults, content_options: content, provider_options: options }) {
    const queries = Array.isArray(query) ? query.length : 1
    const results = typeof maxResults === 'number' ? maxResults : 10
    const searches = queries * Math.ceil(results / 10) * (hasDepth(options) ? 2 : 1)
    return isObject(content) && content.full_page === true
      ? { search: searches, page: queries * results }
      : { search: searches }
  },
}

const hasDepth = (options: unknown): boolean =>
  isObject(options) && [options, ...Object.values(options).filter(isObject)].some(isDeep)
const isDeep = ({ search_depth: depth }: JsonObject) => depth === 'advanced'

const endpoint = {
  format: 'openai-chat',
  client: 'search',
  operation,
  bound,
  modelNames: ['model', 'search_tool_name', 'provider'],
  service: 'search',
  loadAdapters: once(async () => (await import('./web-search-adapters.ts')).webSearchAdapters),
} as const

/** The endpoints for web search. LiteLLM's clients put the model in the path. */
export const webSearchEndpoints: readonly KindEndpoint[] = [
  createEndpoint({ path: '/v1/search', ...endpoint }),
  createEndpoint({ path: '/v1/search/{model}', ...endpoint }),
]
