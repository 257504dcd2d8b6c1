import { createKindAdapters } from '../create-kind-adapters.ts'
import type { KindAdapters } from '../kind-adapters.ts'
import { fetchClient } from './clients/web-fetch-client.ts'
import { exa } from './vendors/exa-web-fetch.ts'
import { firecrawl } from './vendors/firecrawl-web-fetch.ts'
import { gateway } from './vendors/gateway-web-fetch.ts'
import { jina } from './vendors/jina-web-fetch.ts'
import { tavily } from './vendors/tavily-web-fetch.ts'
import { pageSplitter } from './web-fetch.ts'

/** The adapters for fetching pages. */
export const webFetchAdapters: KindAdapters = createKindAdapters({
  configField: 'fetchConfig',
  clients: { fetch: fetchClient },
  vendors: [exa, firecrawl, jina, tavily],
  fallback: gateway,
  splitter: pageSplitter,
})
