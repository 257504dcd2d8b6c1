import type { SpeechForm } from './speech.ts'
import { deepgram } from './vendors/deepgram.ts'
import { elevenlabs } from './vendors/elevenlabs.ts'
import { google } from './vendors/google.ts'
import { groq } from './vendors/groq.ts'
import { mistral } from './vendors/mistral.ts'
import { openai } from './vendors/openai.ts'
import { openrouter } from './vendors/openrouter.ts'

/** All vendors of speech, a line each. */
export const speechVendors: readonly SpeechForm[] = [openai, elevenlabs, deepgram, google, mistral, groq, openrouter]
