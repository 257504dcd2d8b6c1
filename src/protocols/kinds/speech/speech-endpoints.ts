import { once } from '../../../lib/promises.ts'
import { createAiSdkEndpoints, createEndpoint, createOperation, type KindEndpoint } from '../endpoint.ts'

const operation = createOperation({
  name: 'speak',
  kind: 'tts',
  tryOthers: true, // vendors differ in voices, formats, and text lengths
  limits: { headersTimeoutMs: 180_000 },
})
const loadAdapters = once(async () => (await import('./speech-adapters.ts')).speechAdapters)

/** The endpoints for speech. */
export const speechEndpoints: readonly KindEndpoint[] = [
  createEndpoint({
    path: '/v1/audio/speech',
    format: 'openai-chat',
    client: 'openai',
    operation,
    loadAdapters,
    streams: 'requested',
    streamTrigger: { field: 'stream_format', value: 'sse' },
    responseTypes: ['audio/mpeg'],
  }),
  ...createAiSdkEndpoints('speech-model', {
    operation,
    loadAdapters,
  }),
]
