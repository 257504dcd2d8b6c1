import { pathSegment } from '../../../lib/urls.ts'
import { charactersIn, speechForm } from '../speech.ts'

/** https://elevenlabs.io/docs/api-reference/text-to-speech/stream. The voice is an id; that of OpenAI's names is "Rachel", unless another is set. */
export const elevenlabs = speechForm({
  name: 'elevenlabs',
  providers: ['elevenlabs'],
  keyHeader: 'xi-api-key',
  formats: { mp3: 'mp3_44100_128', wav: 'wav_24000', pcm: 'pcm_24000', opus: 'opus_48000_64', mulaw: 'ulaw_8000' },
  otherwise: 'mp3',
  voice: '21m00Tcm4TlvDq8ikWAM',
  takes: ['speed', 'language'],
  request: ({ input, speed, language }, { voice = '', format, target }) => ({
    path: `/text-to-speech/${pathSegment(voice)}/stream`,
    query: { output_format: format },
    body: {
      text: input,
      model_id: target.model,
      ...(language !== undefined && { language_code: language }),
      ...(speed !== undefined && { voice_settings: { speed: Math.min(1.2, Math.max(0.7, speed)) } }),
    },
  }),
  usageIn: charactersIn('character-cost'),
})
