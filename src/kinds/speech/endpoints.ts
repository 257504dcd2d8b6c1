import { once } from '../../lib/promises.ts'
import { type KindEndpoint, kindEndpoint, kindOperation } from '../endpoint.ts'

/** Where texts are spoken. */
export const speechEndpoints: readonly KindEndpoint[] = [
  kindEndpoint({
    path: '/v1/audio/speech',
    format: 'openai-chat',
    client: 'openai',
    operation: kindOperation({ name: 'speak', kind: 'tts', limits: { headersTimeoutMs: 180_000 } }),
    loadForms: once(async () => (await import('./forms.ts')).speechForms),
    streams: 'asked',
    streamBy: { member: 'stream_format', value: 'sse' },
    answerTypes: ['audio/mpeg'],
    bound: {
      isEither: true,
      inputTokens: (_, estimate) => estimate(),
      // Models that are charged by tokens make about 30 a second of sound, in which 10 characters or more are spoken.
      outputTokens: ({ input }) => (typeof input === 'string' ? 5 * input.length + 100 : 0),
      units: ({ input }) => ({ character: typeof input === 'string' ? input.length : 0 }),
    },
    words: {
      summary: 'Speak a text',
      vendor: 'OpenAI',
      reference: 'https://platform.openai.com/docs/api-reference/audio/createSpeech',
    },
  }),
]
