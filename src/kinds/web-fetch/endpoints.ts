import { isObject } from '../../lib/json.ts'
import { once } from '../../lib/promises.ts'
import { type KindEndpoint, kindEndpoint, kindOperation } from '../endpoint.ts'

/** Where pages are asked for. */
export const webFetchEndpoints: readonly KindEndpoint[] = [
  kindEndpoint({
    path: '/v1/web/fetch',
    format: 'openai-chat',
    client: 'fetch',
    operation: kindOperation({
      name: 'fetch',
      kind: 'webFetch',
      endsAt: () => false, // what one vendor refuses, or cannot read, another may
      limits: { headersTimeoutMs: 60_000, totalTimeoutMs: 200_000 },
    }),
    bound: {
      hasNoOutput: true,
      inputTokens: () => 0,
      units: ({ urls, provider_options: options }) => ({
        page: (Array.isArray(urls) ? urls.length : 1) * (isObject(options) ? 2 : 1), // some charge twice for more thorough reading
      }),
    },
    modelNames: ['model', 'provider'],
    service: 'fetch',
    loadForms: once(async () => (await import('./forms.ts')).webFetchForms),
    words: {
      summary: 'Fetch the text of pages',
      vendor: 'Jina, Firecrawl, Tavily and Exa',
      reference: 'https://docs.jina.ai/',
    },
  }),
]
