import type { SpeechAdapter } from './speech.ts'
import { deepgram } from './vendors/deepgram-speech.ts'
import { elevenlabs } from './vendors/elevenlabs-speech.ts'
import { google } from './vendors/google-speech.ts'
import { groq } from './vendors/groq-speech.ts'
import { mistral } from './vendors/mistral-speech.ts'
import { openai } from './vendors/openai-speech.ts'
import { openrouter } from './vendors/openrouter-speech.ts'
import { together } from './vendors/together-speech.ts'

/** All speech vendors. */
export const speechVendors: readonly SpeechAdapter[] = [
  openai,
  elevenlabs,
  deepgram,
  google,
  mistral,
  groq,
  openrouter,
  together,
]
