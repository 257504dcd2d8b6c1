import { kindForms } from '../carry.ts'
import type { KindForms } from '../forms.ts'
import { fetchClient } from './clients/fetch.ts'
import { byPage } from './fetch.ts'
import { exa } from './vendors/exa.ts'
import { firecrawl } from './vendors/firecrawl.ts'
import { gateway } from './vendors/gateway.ts'
import { jina } from './vendors/jina.ts'
import { tavily } from './vendors/tavily.ts'

/** How pages are asked for, and how vendors take that: a line for each. */
export const webFetchForms: KindForms = kindForms({
  config: 'fetchConfig',
  clients: { fetch: fetchClient },
  vendors: [exa, firecrawl, jina, tavily],
  otherwise: gateway,
  division: byPage,
})
