import { kindForms } from '../carry.ts'
import { aiSdk } from './clients/ai-sdk.ts'
import { gemini } from './clients/gemini.ts'
import { openai } from './clients.ts'
import { charactersOf } from './speech.ts'
import { compatible } from './vendors/openai.ts'
import { speechVendors } from './vendors.ts'

/** The forms of speech. */
export const speechForms = kindForms({
  clients: { openai, 'ai-sdk': aiSdk, gemini: gemini(false), 'gemini-stream': gemini(true) },
  vendors: speechVendors,
  otherwise: compatible,
  usageOf: (asked) => ({ inputTokens: 0, outputTokens: 0, units: { character: charactersOf(asked) } }),
})
