import { openaiShaped } from './openai-shaped.ts'

/** https://docs.api.nvidia.com/nim/reference: its models for retrieval refuse a request without a task. */
export const nvidia = openaiShaped({
  name: 'nvidia',
  providers: ['nvidia-nim'],
  dimensions: 'dimensions',
  task: { name: 'input_type', words: { query: 'query', document: 'passage' }, otherwise: 'document' },
  truncation: {
    own: 'none',
    words: { none: { truncate: 'NONE' }, start: { truncate: 'START' }, end: { truncate: 'END' } },
  },
  base64: { encoding_format: 'base64' },
  takesUser: true,
})
