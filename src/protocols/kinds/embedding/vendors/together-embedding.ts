import { createOpenaiAdapter } from './openai-compatible-embedding.ts'

/** Together accepts only a model and strings. */
export const together = createOpenaiAdapter({ name: 'together', providers: ['together'] })
