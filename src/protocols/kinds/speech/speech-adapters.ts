import { assignToMedium } from '../../formats/canonical/media-tokens.ts'
import { createKindAdapters } from '../create-kind-adapters.ts'
import { aiSdk } from './clients/ai-sdk-speech-client.ts'
import { createGeminiSpeechClient } from './clients/gemini-speech-client.ts'
import { countCharacters } from './speech.ts'
import { openai as openaiClient } from './speech-clients.ts'
import { deepgram } from './vendors/deepgram-speech.ts'
import { elevenlabs } from './vendors/elevenlabs-speech.ts'
import { google } from './vendors/google-speech.ts'
import { groq } from './vendors/groq-speech.ts'
import { mistral } from './vendors/mistral-speech.ts'
import { openai, openaiCompatible } from './vendors/openai-speech.ts'
import { openrouter } from './vendors/openrouter-speech.ts'
import { together } from './vendors/together-speech.ts'

/** The adapters for speech. */
export const speechAdapters = createKindAdapters({
  clients: {
    openai: openaiClient,
    'ai-sdk': aiSdk,
    gemini: createGeminiSpeechClient(false),
    'gemini-stream': createGeminiSpeechClient(true),
  },
  vendors: [openai, elevenlabs, deepgram, google, mistral, groq, openrouter, together],
  fallback: openaiCompatible,
  addPriceFacts: (usage) => assignToMedium(usage, 'outputTokens', 'outputAudioTokens'),
  estimateUsage: (request) => ({ inputTokens: 0, outputTokens: 0, units: { character: countCharacters(request) } }),
})
