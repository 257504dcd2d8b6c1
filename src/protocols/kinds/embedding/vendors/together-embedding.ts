import { createOpenaiForm } from './openai-compatible-embedding.ts'

/** Together accepts only a model and texts. */
export const together = createOpenaiForm({ name: 'together', providers: ['together'] })
