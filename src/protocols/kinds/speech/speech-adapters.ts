import { assignToMedium } from '../../formats/canonical/media-tokens.ts'
import { createKindAdapters } from '../create-kind-adapters.ts'
import { aiSdk } from './clients/ai-sdk-speech-client.ts'
import { createGeminiSpeechClient } from './clients/gemini-speech-client.ts'
import { countCharacters } from './speech.ts'
import { openai } from './speech-clients.ts'
import { speechVendors } from './speech-vendors.ts'
import { compatible } from './vendors/openai-speech.ts'

/** The adapters for speech. */
export const speechAdapters = createKindAdapters({
  clients: {
    openai,
    'ai-sdk': aiSdk,
    gemini: createGeminiSpeechClient(false),
    'gemini-stream': createGeminiSpeechClient(true),
  },
  vendors: speechVendors,
  fallback: compatible,
  addPriceFacts: (usage) => assignToMedium(usage, 'outputTokens', 'outputAudioTokens'),
  estimateUsage: (request) => ({ inputTokens: 0, outputTokens: 0, units: { character: countCharacters(request) } }),
})
