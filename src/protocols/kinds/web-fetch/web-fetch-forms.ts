import { createKindForms } from '../create-kind-forms.ts'
import type { KindForms } from '../kind-forms.ts'
import { fetchClient } from './clients/web-fetch-client.ts'
import { exa } from './vendors/exa-web-fetch.ts'
import { firecrawl } from './vendors/firecrawl-web-fetch.ts'
import { gateway } from './vendors/gateway-web-fetch.ts'
import { jina } from './vendors/jina-web-fetch.ts'
import { tavily } from './vendors/tavily-web-fetch.ts'
import { pageSplitter } from './web-fetch.ts'

/** The forms for fetching pages. */
export const webFetchForms: KindForms = createKindForms({
  configField: 'fetchConfig',
  clients: { fetch: fetchClient },
  vendors: [exa, firecrawl, jina, tavily],
  fallback: gateway,
  splitter: pageSplitter,
})
