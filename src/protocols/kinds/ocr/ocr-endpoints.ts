import { once } from '../../../lib/promises.ts'
import { createEndpoint, createOperation, type KindEndpoint } from '../endpoint.ts'

/** The endpoints for extracting text from documents. Models of this kind are also available through chat, with an image. */
export const ocrEndpoints: readonly KindEndpoint[] = [
  createEndpoint({
    path: '/v1/ocr',
    format: 'openai-chat',
    client: 'mistral',
    operation: createOperation({
      name: 'ocr',
      kind: 'imageToText',
      alsoServes: ['llm'],
      limits: { headersTimeoutMs: 180_000 },
    }),
    loadAdapters: once(async () => (await import('./ocr-adapters.ts')).ocrAdapters),
    bound: {
      hasNoOutput: true,
      isBilledOnce: true,
      inputTokens: () => 0,
      units: ({ pages }) => ({ page: countPages(pages) }),
    },
  }),
]

/** Counts the pages; a document has at most a thousand. */
const countPages = (pages: unknown): number => (Array.isArray(pages) && pages.length > 0 ? pages.length : 1_000)
