import { createSpeechAdapter } from '../speech.ts'
import { writeOpenaiBody } from './openai-speech.ts'

/** https://console.groq.com/docs/text-to-speech: OpenAI's API without `instructions` and events. Its models only produce WAV files. */
export const groq = createSpeechAdapter({
  name: 'groq',
  providers: ['groq'],
  formats: { wav: 'wav' },
  fallbackFormat: 'wav',
  voice: (model) => (model.includes('arabic') ? 'fahad' : 'troy'),
  supports: ['speed'],
  writeRequest: (request, { voice, format, target }) => ({
    path: '/audio/speech',
    body: writeOpenaiBody(request, { voice, format, model: target.model }),
  }),
})
