import { speechForm } from '../speech.ts'
import { openaiBody } from './openai.ts'

/** https://console.groq.com/docs/text-to-speech: OpenAI's form with other formats, and without `instructions` and events. */
export const groq = speechForm({
  name: 'groq',
  providers: ['groq'],
  formats: { mp3: 'mp3', wav: 'wav', flac: 'flac', opus: 'ogg', ogg: 'ogg', mulaw: 'mulaw' },
  otherwise: 'mp3',
  voice: 'troy',
  takes: ['speed'],
  request: (asked, { voice, format, target }) => ({
    path: '/audio/speech',
    body: openaiBody(asked, { voice, format, model: target.model }),
  }),
})
