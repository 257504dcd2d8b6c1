import { openaiShaped } from './openai-shaped.ts'

/** Together takes a model and texts, and nothing else. */
export const together = openaiShaped({ name: 'together', providers: ['together'] })
