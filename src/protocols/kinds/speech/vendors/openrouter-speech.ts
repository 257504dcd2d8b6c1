import { createSpeechAdapter } from '../speech.ts'
import { writeOpenaiBody } from './openai-speech.ts'

/** https://openrouter.ai/docs/features/multimodal/text-to-speech: like OpenAI's API, but supports only MP3 and raw samples, and no events. */
export const openrouter = createSpeechAdapter({
  name: 'openrouter',
  providers: ['openrouter'],
  formats: { mp3: 'mp3', pcm: 'pcm' },
  fallbackFormat: 'mp3',
  voice: (model) => SPEECH_VOICES.find(([name]) => model.startsWith(name))?.[1],
  supports: ['instructions', 'speed'],
  writeRequest: (request, { voice, format, target }) => ({
    path: '/audio/speech',
    body: writeOpenaiBody(request, { voice, format, model: target.model }),
  }),
})

/** The voices that replace OpenAI's voices for models that don't support those. */
const SPEECH_VOICES = [
  ['mistralai/', 'en_paul_neutral'],
  ['google/', 'Kore'],
  ['hexgrad/', 'af_heart'],
  ['canopylabs/', 'tara'],
] as const
