import { createKindAdapters } from '../create-kind-adapters.ts'
import { clients } from './moderation-clients.ts'
import { mistral } from './vendors/mistral-moderation.ts'
import { openai, openaiCompatible } from './vendors/openai-moderation.ts'

/** The adapters for moderation. */
export const moderationAdapters = createKindAdapters({
  clients,
  vendors: [mistral, openai],
  fallback: openaiCompatible,
  estimatesTokens: true,
})
