import type { TranscriptionAdapter } from './transcription.ts'
import { chat } from './vendors/chat-transcription.ts'
import { deepgram } from './vendors/deepgram-transcription.ts'
import { elevenlabs } from './vendors/elevenlabs-transcription.ts'
import { google } from './vendors/google-transcription.ts'
import { mistral } from './vendors/mistral-transcription.ts'
import { groq } from './vendors/openai-transcription.ts'
import { openrouter } from './vendors/openrouter-transcription.ts'

/** All transcription vendors. A target uses the first one that matches. */
export const transcriptionVendors: readonly TranscriptionAdapter[] = [
  google,
  chat,
  deepgram,
  elevenlabs,
  mistral,
  groq,
  openrouter,
]
