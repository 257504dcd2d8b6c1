import type { RequestBound } from '../../formats/format.ts'
import type { Operation } from '../../formats/operations.ts'
import type { FormFile } from '../../lib/multipart.ts'
import { once } from '../../lib/promises.ts'
import { aiSdkEndpoints, base64SizeOf, type KindEndpoint, kindEndpoint, kindOperation } from '../endpoint.ts'

const shared = {
  kind: 'stt',
  limits: { headersTimeoutMs: 180_000 },
  isServedBy: ({ format, model }: { format: string; model: string }) => format === 'gemini' || HEARING.test(model),
} satisfies Partial<Operation> & Pick<Operation, 'kind'>

/** Models for chat that hear. */
const HEARING = /(?:^|\/)(?:gpt-audio|gpt-4o-(?:mini-)?audio|gemini-)|omni/

/** Models hear up to 32 tokens a second, and write 5. */
const bound: RequestBound = {
  isEither: true,
  inputTokens: (body, _, files) => 400 + Math.ceil(32 * mostSeconds(body, files)),
  outputTokens: (body, files) => 100 + Math.ceil(5 * mostSeconds(body, files)),
  units: (body, files) => ({ second: mostSeconds(body, files) }),
}

/** In bytes a second: no speech has less at 6 kbit/s, unless its headers say how long it is. */
const LEAST = 750

const mostSeconds = (body: object, [file]: readonly FormFile[] = []): number =>
  file ? (file.seconds?.() ?? file.bytes.length / LEAST) : JSON.stringify(body).length / LEAST

const transcribe = kindOperation({ name: 'transcribe', ...shared })
const loadForms = once(async () => (await import('./forms.ts')).transcriptionForms)
const summary = 'Write down what is said'

const endpoint = (
  name: string,
  client: string,
  { operation, summary }: { operation: Operation; summary: string },
): KindEndpoint =>
  kindEndpoint({
    path: `/v1/audio/${name}`,
    format: 'openai-chat',
    client,
    operation,
    loadForms,
    reads: 'form',
    bodyLimit: 'maxAudioBytes',
    sizeInBase64: ({ input_audio: sound }) => base64SizeOf(sound),
    streams: 'asked',
    bound,
    words: { summary, vendor: 'OpenAI', reference: 'https://platform.openai.com/docs/api-reference/audio' },
  })

/** Where sound becomes text. */
export const transcriptionEndpoints: readonly KindEndpoint[] = [
  endpoint('transcriptions', 'openai', { operation: transcribe, summary }),
  endpoint('translations', 'openai-translation', {
    operation: kindOperation({ name: 'translate', ...shared }),
    summary: 'Write down in English what is said',
  }),
  ...aiSdkEndpoints('transcription-model', {
    operation: transcribe,
    loadForms,
    bodyLimit: 'maxAudioBytes',
    reads: 'sound',
    sizeInBase64: (_, [file]) => file?.bytes.length ?? 0,
    bound,
    summary,
    page: 'transcription',
  }),
]
