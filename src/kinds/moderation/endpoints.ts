import { once } from '../../lib/promises.ts'
import { type KindEndpoint, kindEndpoint, kindOperation } from '../endpoint.ts'

/** Where texts and images are moderated. */
export const moderationEndpoints: readonly KindEndpoint[] = [
  kindEndpoint({
    path: '/v1/moderations',
    format: 'openai-chat',
    client: 'openai',
    operation: kindOperation({ name: 'moderate', kind: 'moderation' }),
    loadForms: once(async () => (await import('./forms.ts')).moderationForms),
    words: {
      summary: 'Moderate texts and images',
      vendor: 'OpenAI',
      reference: 'https://platform.openai.com/docs/api-reference/moderations',
    },
  }),
]
