import { speechForm } from '../speech.ts'
import { openaiBody } from './openai.ts'

/** https://openrouter.ai/docs/features/multimodal/text-to-speech: OpenAI's form with MP3 and raw samples alone, and without events. */
export const openrouter = speechForm({
  name: 'openrouter',
  providers: ['openrouter'],
  formats: { mp3: 'mp3', pcm: 'pcm' },
  otherwise: 'mp3',
  voice: undefined, // it passes OpenAI's on
  takes: ['instructions', 'speed'],
  request: (asked, { voice, format, target }) => ({
    path: '/audio/speech',
    body: openaiBody(asked, { voice, format, model: target.model }),
  }),
})
