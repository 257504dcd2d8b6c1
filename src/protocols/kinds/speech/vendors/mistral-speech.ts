import { fromBase64 } from '../../../../lib/bytes.ts'
import { readEmbeddedError } from '../../../formats/errors/embedded-errors.ts'
import { createSpeechAdapter } from '../speech.ts'
import { readUsage } from './openai-speech.ts'

/** https://docs.mistral.ai/api/endpoint/audio/speech. Responds with JSON, or with events that contain base64 audio. */
export const mistral = createSpeechAdapter({
  name: 'mistral',
  providers: ['mistral'],
  formats: { mp3: 'mp3', wav: 'wav', pcm: 'pcm', flac: 'flac', opus: 'opus' },
  fallbackFormat: 'mp3',
  voice: 'en_paul_neutral', // Mistral requires a voice
  supports: [],
  writeRequest: ({ input, expectsCompleteAudio }, { voice, format, target }) => ({
    path: '/audio/speech',
    body: {
      model: target.model,
      input,
      ...(voice && { voice_id: voice }),
      response_format: format,
      stream: !expectsCompleteAudio,
    },
  }),
  readEvent(json) {
    const error = readEmbeddedError(json.error)
    if (error) return { error }
    if (json.type === 'speech.audio.done') return { isLast: true, usage: readUsage(json.usage) }
    return typeof json.audio_data === 'string' ? { chunks: [fromBase64(json.audio_data)] } : {}
  },
  readResponse: ({ audio_data: data, usage }) =>
    typeof data === 'string' ? { audio: fromBase64(data), usage: readUsage(usage) } : 'sound',
})
