import { kindForms } from '../carry.ts'
import { clients } from './clients.ts'
import { mistral } from './vendors/mistral.ts'
import { compatible, openai } from './vendors/openai.ts'

/** The forms of moderation; a vendor is a line here. */
export const moderationForms = kindForms({
  clients,
  vendors: [mistral, openai],
  otherwise: compatible,
  countsTokens: true,
})
