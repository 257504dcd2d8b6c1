import { createKindAdapters } from '../create-kind-adapters.ts'
import type { KindAdapters } from '../kind-adapters.ts'
import { searchClient } from './clients/web-search-client.ts'
import { brave } from './vendors/brave-web-search.ts'
import { exa } from './vendors/exa-web-search.ts'
import { firecrawl } from './vendors/firecrawl-web-search.ts'
import { gateway } from './vendors/gateway-web-search.ts'
import { jina } from './vendors/jina-web-search.ts'
import { perplexity } from './vendors/perplexity-web-search.ts'
import { searxng } from './vendors/searxng-web-search.ts'
import { serper } from './vendors/serper-web-search.ts'
import { tavily } from './vendors/tavily-web-search.ts'
import { querySplitter } from './web-search-results.ts'

/** The adapters for web search. */
export const webSearchAdapters: KindAdapters = createKindAdapters({
  configField: 'searchConfig',
  clients: { search: searchClient },
  vendors: [brave, exa, firecrawl, jina, perplexity, searxng, serper, tavily],
  fallback: gateway,
  splitter: querySplitter,
})
