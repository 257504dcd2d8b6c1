import { createOpenaiAdapter } from './openai-compatible-embedding.ts'

/** Together accepts only a model and texts. */
export const together = createOpenaiAdapter({ name: 'together', providers: ['together'] })
