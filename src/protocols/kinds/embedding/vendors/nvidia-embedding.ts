import { createOpenaiAdapter } from './openai-compatible-embedding.ts'

/** https://docs.api.nvidia.com/nim/reference. Its retrieval models require a task. */
export const nvidia = createOpenaiAdapter({
  name: 'nvidia',
  providers: ['nvidia-nim'],
  dimensions: 'dimensions',
  task: { name: 'input_type', names: { query: 'query', document: 'passage' }, fallback: 'document' },
  truncation: {
    defaultMode: 'none',
    fields: { none: { truncate: 'NONE' }, start: { truncate: 'START' }, end: { truncate: 'END' } },
  },
  base64: { encoding_format: 'base64' },
  supportsUser: true,
})
