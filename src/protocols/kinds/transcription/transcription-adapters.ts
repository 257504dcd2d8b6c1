import { assignToMedium } from '../../formats/canonical/media-tokens.ts'
import { createKindAdapters } from '../create-kind-adapters.ts'
import { estimateDuration, getDuration } from '../sound/audio-duration.ts'
import { aiSdk } from './clients/ai-sdk-transcription-client.ts'
import { clients } from './transcription-clients.ts'
import { transcriptionVendors } from './transcription-vendors.ts'
import { compatible } from './vendors/openai-transcription.ts'

/** The adapters for transcription. */
export const transcriptionAdapters = createKindAdapters({
  clients: { ...clients, 'ai-sdk': aiSdk },
  vendors: transcriptionVendors,
  fallback: compatible,
  addPriceFacts: (usage) => assignToMedium(usage, 'inputTokens', 'inputAudioTokens'),
  estimateUsage({ file }) {
    const second = getDuration(file.bytes)
    const units = { second: second ?? estimateDuration(file.bytes) }
    return { inputTokens: 0, outputTokens: 0, units, ...(second === undefined && { isEstimated: true }) }
  },
})
