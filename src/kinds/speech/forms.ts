import { kindForms } from '../carry.ts'
import { clients } from './clients.ts'
import { charactersOf } from './speech.ts'
import { compatible } from './vendors/openai.ts'
import { speechVendors } from './vendors.ts'

/** The forms of speech. */
export const speechForms = kindForms({
  clients,
  vendors: speechVendors,
  otherwise: compatible,
  usageOf: (asked) => ({ inputTokens: 0, outputTokens: 0, units: { character: charactersOf(asked) } }),
})
