import { getVoyageTokens } from '../embedding-bounds.ts'
import { createOpenaiAdapter } from './openai-compatible-embedding.ts'

/** https://docs.voyageai.com/reference/embeddings-api. Voyage truncates the end of long strings unless truncation is disabled. */
export const voyage = createOpenaiAdapter({
  name: 'voyage',
  providers: ['voyage'],
  maxInputs: 128,
  getMaxTokens: ({ model }) => getVoyageTokens(model),
  dimensions: 'output_dimension',
  task: { name: 'input_type', names: { query: 'query', document: 'document' } },
  truncation: { defaultMode: 'end', fields: { none: { truncation: false }, end: { truncation: true } } },
  base64: { encoding_format: 'base64' },
})
