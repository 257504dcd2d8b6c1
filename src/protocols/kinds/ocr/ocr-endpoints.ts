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
  }),
]
