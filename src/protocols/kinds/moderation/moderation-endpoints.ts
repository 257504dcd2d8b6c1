import { once } from '../../../lib/promises.ts'
import { createEndpoint, createOperation, type KindEndpoint } from '../endpoint.ts'

/** The endpoints for moderation. */
export const moderationEndpoints: readonly KindEndpoint[] = [
  createEndpoint({
    path: '/v1/moderations',
    format: 'openai-chat',
    client: 'openai',
    operation: createOperation({ name: 'moderate', kind: 'moderation' }),
    loadAdapters: once(async () => (await import('./moderation-adapters.ts')).moderationAdapters),
  }),
]
