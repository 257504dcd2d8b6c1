import type { HearingForm } from './transcription.ts'
import { chat } from './vendors/chat.ts'
import { deepgram } from './vendors/deepgram.ts'
import { elevenlabs } from './vendors/elevenlabs.ts'
import { google } from './vendors/google.ts'
import { mistral } from './vendors/mistral.ts'
import { groq } from './vendors/openai.ts'
import { openrouter } from './vendors/openrouter.ts'

/** All vendors of transcription, a line each; the first that fits is asked. */
export const transcriptionVendors: readonly HearingForm[] = [
  google,
  chat,
  deepgram,
  elevenlabs,
  mistral,
  groq,
  openrouter,
]
