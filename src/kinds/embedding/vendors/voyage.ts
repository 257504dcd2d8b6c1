import { openaiShaped } from './openai-shaped.ts'

/** https://docs.voyageai.com/reference/embeddings-api. It cuts the end of long texts unless it is told not to. */
export const voyage = openaiShaped({
  name: 'voyage',
  providers: ['voyage'],
  most: 128,
  dimensions: 'output_dimension',
  task: { name: 'input_type', words: { query: 'query', document: 'document' } },
  truncation: { own: 'end', words: { none: { truncation: false }, end: { truncation: true } } },
  base64: { encoding_format: 'base64' },
})
