import type { VendorAdapter } from '../../kind-adapters.ts'
import type { SearchRequest } from '../web-search.ts'
import type { SearchResponse } from '../web-search-results.ts'
import { perplexity } from './perplexity-web-search.ts'

/** Other gateways with the same API as this one: Perplexity's, with a model. */
export const gateway: VendorAdapter<SearchRequest, SearchResponse> = {
  name: 'gateway',
  writeRequest(request, context) {
    const { body, ...rest } = perplexity.writeRequest(request, context)
    return { ...rest, body: { model: context.target.model, ...body } }
  },
  readResponse: perplexity.readResponse,
}
