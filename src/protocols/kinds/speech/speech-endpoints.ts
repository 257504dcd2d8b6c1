import type { JsonObject } from '../../../lib/json.ts'
import { once } from '../../../lib/promises.ts'
import type { RequestBound } from '../../formats/format.ts'
import { createAiSdkEndpoints, createEndpoint, createOperation, type KindEndpoint } from '../endpoint.ts'

const operation = createOperation({
  name: 'speak',
  kind: 'tts',
  tryOthers: true, // voices, formats, and text lengths differ
  limits: { headersTimeoutMs: 180_000 },
})
const loadAdapters = once(async () => (await import('./speech-adapters.ts')).speechAdapters)

/** Returns the length of the text, which is `input` in OpenAI's API and `text` in the AI SDK's. */
const getLength = ({ input, text }: JsonObject) =>
  Math.max(...[input, text].map((value) => (typeof value === 'string' ? value.length : 0)))

const bound: RequestBound = {
  isBilledOnce: true,
  inputTokens: (_, estimate) => estimate(),
  // Models that charge per token use about 30 tokens per second of audio, and a second has at least 10 characters.
  outputTokens: (body) => 5 * getLength(body) + 100,
  units: (body) => ({ character: getLength(body) }),
}

/** The endpoints for speech. */
export const speechEndpoints: readonly KindEndpoint[] = [
  createEndpoint({
    path: '/v1/audio/speech',
    format: 'openai-chat',
    client: 'openai',
    operation,
    loadAdapters,
    streams: 'requested',
    streamBy: { member: 'stream_format', value: 'sse' },
    responseTypes: ['audio/mpeg'],
    bound,
  }),
  ...createAiSdkEndpoints('speech-model', {
    operation,
    loadAdapters,
    bound,
  }),
]
