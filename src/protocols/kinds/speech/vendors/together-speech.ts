import type { ProviderTarget } from '../../../providers/target.ts'
import { createSpeechAdapter, isForeignVoice, SAMPLE_RATE, type SpeechRequest } from '../speech.ts'
import { passThrough, writeOpenaiBody } from './openai-speech.ts'

const SPEECH_FORMATS: Readonly<Record<string, string>> = { mp3: 'mp3', wav: 'wav', raw: 'raw', pcm: 'raw' }

/** Returns the default voice; each of Together's models has its own voices. */
const getDefaultVoice = (model: string) =>
  /orpheus/i.test(model) ? 'tara' : /kokoro/i.test(model) ? 'af_heart' : 'friendly sidekick'

/** https://docs.together.ai/reference/audio-speech: like OpenAI's API, with fewer formats. */
export const together = {
  ...createSpeechAdapter({
    name: 'together',
    providers: ['together'],
    formats: SPEECH_FORMATS,
    fallbackFormat: 'mp3',
    voice: getDefaultVoice,
    supports: ['language'],
    writeRequest: (request, { voice, format, target }) => ({
      path: '/audio/speech',
      body: {
        ...writeOpenaiBody(request, { voice, format, model: target.model }),
        ...(format === 'raw' && { response_encoding: 'pcm_s16le', sample_rate: SAMPLE_RATE }),
      },
    }),
  }),
  passThrough: [
    {
      ...passThrough,
      accepts: ({ format, voice, expectsEvents, speed }: SpeechRequest, { model }: ProviderTarget) =>
        !expectsEvents &&
        format !== 'pcm' &&
        SPEECH_FORMATS[format] !== undefined &&
        speed === undefined &&
        voice !== undefined &&
        !isForeignVoice(voice, getDefaultVoice(model)),
    },
  ],
}
