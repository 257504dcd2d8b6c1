import type { VendorForm } from '../../forms.ts'
import type { SearchResults } from '../given.ts'
import type { WebSearch } from '../search.ts'
import { perplexity } from './perplexity.ts'

/** The form of clients, as other gateways serve it: Perplexity's, with the name of a model. */
export const gateway: VendorForm<WebSearch, SearchResults> = {
  name: 'gateway',
  request(search, context) {
    const request = perplexity.request(search, context)
    return { ...request, body: { model: context.target.model, ...request.body } }
  },
  answer: perplexity.answer,
}
