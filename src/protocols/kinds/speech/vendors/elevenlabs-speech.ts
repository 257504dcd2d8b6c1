import { encodePathSegment } from '../../../../lib/urls.ts'
import { createCharacterReader, createSpeechAdapter } from '../speech.ts'

/** https://elevenlabs.io/docs/api-reference/text-to-speech/stream. Voices are IDs. "Rachel" is the default for OpenAI's names. */
export const elevenlabs = createSpeechAdapter({
  name: 'elevenlabs',
  providers: ['elevenlabs'],
  keyHeader: 'xi-api-key',
  formats: { mp3: 'mp3_44100_128', wav: 'wav_24000', pcm: 'pcm_24000', opus: 'opus_48000_64', mulaw: 'ulaw_8000' },
  fallbackFormat: 'mp3',
  voice: '21m00Tcm4TlvDq8ikWAM',
  supports: ['speed', 'language'],
  writeRequest: ({ input, speed, language }, { voice = '', format, target }) => ({
    path: `/text-to-speech/${encodePathSegment(voice)}/stream`,
    query: { output_format: format },
    body: {
      text: input,
      model_id: target.model,
      ...(language !== undefined && { language_code: language }),
      ...(speed !== undefined && { voice_settings: { speed: Math.min(1.2, Math.max(0.7, speed)) } }),
    },
  }),
  readHeaderUsage: createCharacterReader('character-cost'),
})
