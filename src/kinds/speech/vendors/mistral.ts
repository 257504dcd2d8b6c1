import { embeddedError } from '../../../formats/errors/embedded.ts'
import { fromBase64 } from '../../../lib/bytes.ts'
import { speechForm } from '../speech.ts'
import { usageIn } from './openai.ts'

/** https://docs.mistral.ai/api/endpoint/audio/speech. It answers with JSON, or with events that hold the sound in base64. */
export const mistral = speechForm({
  name: 'mistral',
  providers: ['mistral'],
  formats: { mp3: 'mp3', wav: 'wav', pcm: 'pcm', flac: 'flac', opus: 'opus' },
  otherwise: 'mp3',
  voice: '',
  takes: [],
  request: ({ input, isWhole }, { voice, format, target }) => ({
    path: '/audio/speech',
    body: { model: target.model, input, ...(voice && { voice_id: voice }), response_format: format, stream: !isWhole },
  }),
  event(json) {
    const error = embeddedError(json.error)
    if (error) return { error }
    if (json.type === 'speech.audio.done') return { isLast: true, usage: usageIn(json.usage) }
    return typeof json.audio_data === 'string' ? { pieces: [fromBase64(json.audio_data)] } : {}
  },
  answer: ({ audio_data: data, usage }) =>
    typeof data === 'string' ? { audio: fromBase64(data), usage: usageIn(usage) } : 'sound',
})
