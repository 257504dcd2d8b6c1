import type { JsonObject } from '../../../lib/json.ts'
import { once } from '../../../lib/promises.ts'
import { isFinalForClient } from '../../formats/model-operations.ts'
import { createAiSdkEndpoints, createEndpoint, createOperation, getBase64Size, type KindEndpoint } from '../endpoint.ts'

const operation = createOperation({
  name: 'image',
  kind: 'image',
  isPaidOnAcceptance: true,
  isFinal: (failure) => isFinalForClient(failure) && failure.status !== 404, // a 404 is always about the model, regardless of its message
  limits: { headersTimeoutMs: 180_000 }, // 0.5 to 3 minutes is normal
})
const loadAdapters = once(async () => (await import('./image-adapters.ts')).imageAdapters)

const getImageSize = ({ prompt: _, ...body }: JsonObject) => getBase64Size(body)

const createImageEndpoint = (
  name: 'generations' | 'edits',
  overrides: Pick<KindEndpoint, 'client' | 'bodyType'> & Partial<KindEndpoint>,
) =>
  createEndpoint({
    path: `/v1/images/${name}`,
    format: 'openai-chat',
    operation,
    loadAdapters,
    streams: 'requested',
    bodyLimit: 'maxImageBytes',
    getBase64Size: getImageSize,
    ...overrides,
  })

/** The endpoints for images. */
export const imageEndpoints: readonly KindEndpoint[] = [
  createImageEndpoint('generations', { client: 'generate', bodyType: 'json' }),
  createImageEndpoint('edits', { client: 'edit', bodyType: 'form' }),
  ...createAiSdkEndpoints('image-model', {
    operation,
    loadAdapters,
    bodyLimit: 'maxImageBytes',
    getBase64Size: getImageSize,
  }),
]
