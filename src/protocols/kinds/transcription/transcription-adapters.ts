import { assignToMedium } from '../../formats/canonical/media-tokens.ts'
import { createKindAdapters } from '../create-kind-adapters.ts'
import { estimateDuration, getDuration } from '../sound/audio-duration.ts'
import { aiSdk } from './clients/ai-sdk-transcription-client.ts'
import { clients } from './transcription-clients.ts'
import { chat } from './vendors/chat-transcription.ts'
import { deepgram } from './vendors/deepgram-transcription.ts'
import { elevenlabs } from './vendors/elevenlabs-transcription.ts'
import { google } from './vendors/google-transcription.ts'
import { mistral } from './vendors/mistral-transcription.ts'
import { groq, openaiCompatible } from './vendors/openai-transcription.ts'
import { openrouter } from './vendors/openrouter-transcription.ts'

/** The adapters for transcription. */
export const transcriptionAdapters = createKindAdapters({
  clients: { ...clients, 'ai-sdk': aiSdk },
  vendors: [google, chat, deepgram, elevenlabs, mistral, groq, openrouter],
  fallback: openaiCompatible,
  addPriceFacts: (usage) => assignToMedium(usage, 'inputTokens', 'inputAudioTokens'),
  estimateUsage({ file }) {
    const second = getDuration(file.bytes)
    const units = { second: second ?? estimateDuration(file.bytes) }
    return { inputTokens: 0, outputTokens: 0, units, ...(second === undefined && { isEstimated: true }) }
  },
})
