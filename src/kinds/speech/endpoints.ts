import type { RequestBound } from '../../formats/format.ts'
import type { JsonObject } from '../../lib/json.ts'
import { once } from '../../lib/promises.ts'
import { aiSdkEndpoints, type KindEndpoint, kindEndpoint, kindOperation } from '../endpoint.ts'

const operation = kindOperation({ name: 'speak', kind: 'tts', limits: { headersTimeoutMs: 180_000 } })
const loadForms = once(async () => (await import('./forms.ts')).speechForms)

/** The length of what is spoken: `input` in OpenAI's form, `text` in the AI SDK's. */
const lengthOf = ({ input, text }: JsonObject) =>
  Math.max(...[input, text].map((said) => (typeof said === 'string' ? said.length : 0)))

const bound: RequestBound = {
  isEither: true,
  inputTokens: (_, estimate) => estimate(),
  // Models that are charged by tokens make about 30 a second of sound, in which 10 characters or more are spoken.
  outputTokens: (body) => 5 * lengthOf(body) + 100,
  units: (body) => ({ character: lengthOf(body) }),
}

/** Where texts are spoken. */
export const speechEndpoints: readonly KindEndpoint[] = [
  kindEndpoint({
    path: '/v1/audio/speech',
    format: 'openai-chat',
    client: 'openai',
    operation,
    loadForms,
    streams: 'asked',
    streamBy: { member: 'stream_format', value: 'sse' },
    answerTypes: ['audio/mpeg'],
    bound,
    words: {
      summary: 'Speak a text',
      vendor: 'OpenAI',
      reference: 'https://platform.openai.com/docs/api-reference/audio/createSpeech',
    },
  }),
  ...aiSdkEndpoints('speech-model', {
    operation,
    loadForms,
    bound,
    summary: 'Speak a text',
    page: 'speech',
  }),
]
