import { once } from '../../../lib/promises.ts'
import { createEndpoint, createOperation, type KindEndpoint } from '../endpoint.ts'

/** The endpoint for fetching pages. */
export const webFetchEndpoints: readonly KindEndpoint[] = [
  createEndpoint({
    path: '/v1/web/fetch',
    format: 'openai-chat',
    client: 'fetch',
    operation: createOperation({
      name: 'fetch',
      kind: 'webFetch',
      isFinal: () => false, // another vendor may be able to read the page
      limits: { headersTimeoutMs: 60_000, totalTimeoutMs: 200_000 },
    }),
    modelFields: ['model', 'provider'],
    service: 'fetch',
    loadAdapters: once(async () => (await import('./web-fetch-adapters.ts')).webFetchAdapters),
  }),
]
