import { kindForms } from '../carry.ts'
import { likelySeconds, secondsOf } from '../sound/length.ts'
import { aiSdk } from './clients/ai-sdk.ts'
import { clients } from './clients.ts'
import { compatible } from './vendors/openai.ts'
import { transcriptionVendors } from './vendors.ts'

/** The forms of transcription. */
export const transcriptionForms = kindForms({
  clients: { ...clients, 'ai-sdk': aiSdk },
  vendors: transcriptionVendors,
  otherwise: compatible,
  usageOf({ file }) {
    const second = secondsOf(file.bytes)
    const units = { second: second ?? likelySeconds(file.bytes) }
    return { inputTokens: 0, outputTokens: 0, units, ...(second === undefined && { isEstimated: true }) }
  },
})
