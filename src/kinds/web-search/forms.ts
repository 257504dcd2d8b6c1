import { kindForms } from '../carry.ts'
import type { KindForms } from '../forms.ts'
import { searchClient } from './clients/search.ts'
import { byQuery } from './given.ts'
import { brave } from './vendors/brave.ts'
import { exa } from './vendors/exa.ts'
import { firecrawl } from './vendors/firecrawl.ts'
import { gateway } from './vendors/gateway.ts'
import { jina } from './vendors/jina.ts'
import { perplexity } from './vendors/perplexity.ts'
import { searxng } from './vendors/searxng.ts'
import { serper } from './vendors/serper.ts'
import { tavily } from './vendors/tavily.ts'

/** How searches are asked for, and how vendors take them: a line for each. */
export const webSearchForms: KindForms = kindForms({
  config: 'searchConfig',
  clients: { search: searchClient },
  vendors: [brave, exa, firecrawl, jina, perplexity, searxng, serper, tavily],
  otherwise: gateway,
  division: byQuery,
})
