import { getModelTokens, MAX_OPENAI_TOKENS } from '../embedding-bounds.ts'
import { createOpenaiAdapter, type Dialect } from './openai-compatible-embedding.ts'

const sharedOptions = {
  dimensions: 'dimensions',
  supportsUser: true,
  supportsTokens: true,
} as const satisfies Partial<Dialect>

/** https://platform.openai.com/docs/api-reference/embeddings: OpenAI, also on Azure. Both reject unknown fields. */
export const openai = createOpenaiAdapter({
  ...sharedOptions,
  name: 'openai',
  providers: ['openai', 'azure'],
  maxInputs: 2_048,
  getMaxTokens: () => MAX_OPENAI_TOKENS,
  base64: { encoding_format: 'base64' },
  keepsOptions: 'plain',
})

/** All OpenAI-compatible servers. Most have their own options or ignore unknown ones. */
export const openaiCompatible = createOpenaiAdapter({
  ...sharedOptions,
  name: 'compatible',
  maxInputs: 2_048,
  getMaxTokens: getModelTokens,
  base64: { encoding_format: 'base64' },
  keepsOptions: 'all',
})

/** Servers that don't support `encoding_format`. */
export const localServer = createOpenaiAdapter({
  ...sharedOptions,
  name: 'local',
  providers: ['ollama', 'lmstudio'],
  keepsOptions: 'all',
})
