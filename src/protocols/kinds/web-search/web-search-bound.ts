import { isObject, type JsonObject } from '../../../lib/json.ts'
import type { RequestBound } from '../../formats/format.ts'

/** For each query, vendors charge per ten results, and twice as much for advanced depth. Full pages are charged separately. */
export const searchBound: RequestBound = {
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
