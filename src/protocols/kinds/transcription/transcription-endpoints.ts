import { once } from '../../../lib/promises.ts'
import type { Operation } from '../../formats/model-operations.ts'
import { createAiSdkEndpoints, createEndpoint, createOperation, getBase64Size, type KindEndpoint } from '../endpoint.ts'

const sharedOperation = {
  kind: 'stt',
  tryOthers: true, // vendors differ in the types, sizes, and lengths of files
  limits: { headersTimeoutMs: 180_000 },
  isServedBy: ({ format, model }: { format: string; model: string }) => format === 'gemini' || AUDIO_MODELS.test(model),
} satisfies Partial<Operation> & Pick<Operation, 'kind'>

/** Matches chat models with audio input. */
const AUDIO_MODELS = /(?:^|\/)(?:gpt-audio|gpt-4o-(?:mini-)?audio|gemini-)|omni/

const transcribe = createOperation({ name: 'transcribe', ...sharedOperation })
const loadAdapters = once(async () => (await import('./transcription-adapters.ts')).transcriptionAdapters)

const createTranscriptionEndpoint = (name: string, client: string, operation: Operation): KindEndpoint =>
  createEndpoint({
    path: `/v1/audio/${name}`,
    format: 'openai-chat',
    client,
    operation,
    loadAdapters,
    bodyType: 'form',
    bodyLimit: 'maxAudioBytes',
    getBase64Size: ({ input_audio: inputAudio }) => getBase64Size(inputAudio),
    streams: 'requested',
  })

/** The endpoints for transcription. */
export const transcriptionEndpoints: readonly KindEndpoint[] = [
  createTranscriptionEndpoint('transcriptions', 'openai', transcribe),
  createTranscriptionEndpoint(
    'translations',
    'openai-translation',
    createOperation({ name: 'translate', ...sharedOperation }),
  ),
  ...createAiSdkEndpoints('transcription-model', {
    operation: transcribe,
    loadAdapters,
    bodyLimit: 'maxAudioBytes',
    bodyType: 'sound',
    getBase64Size: (_, [file]) => file?.bytes.length ?? 0,
  }),
]
