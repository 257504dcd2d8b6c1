import { createKindForms } from '../create-kind-forms.ts'
import { clients } from './moderation-clients.ts'
import { mistral } from './vendors/mistral-moderation.ts'
import { compatible, openai } from './vendors/openai-moderation.ts'

/** The forms for moderation. */
export const moderationForms = createKindForms({
  clients,
  vendors: [mistral, openai],
  fallback: compatible,
  estimatesTokens: true,
})
