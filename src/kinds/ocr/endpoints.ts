import { once } from '../../lib/promises.ts'
import { type KindEndpoint, kindEndpoint, kindOperation } from '../endpoint.ts'

/** Where documents become text. Chat with an image does that as well, and is where the models of the kind are asked. */
export const ocrEndpoints: readonly KindEndpoint[] = [
  kindEndpoint({
    path: '/v1/ocr',
    format: 'openai-chat',
    client: 'mistral',
    operation: kindOperation({
      name: 'ocr',
      kind: 'imageToText',
      alsoServes: ['llm'],
      limits: { headersTimeoutMs: 180_000 },
    }),
    loadForms: once(async () => (await import('./forms.ts')).ocrForms),
    bound: {
      hasNoOutput: true,
      isEither: true,
      inputTokens: () => 0,
      units: ({ pages }) => ({ page: pagesIn(pages) }),
    },
    words: {
      summary: 'Read the text of a document',
      vendor: 'Mistral',
      reference: 'https://docs.mistral.ai/api/endpoint/ocr',
    },
  }),
]

/** A document has a thousand pages at most. */
const pagesIn = (pages: unknown): number => (Array.isArray(pages) && pages.length > 0 ? pages.length : 1_000)
