import { type Dialect, openaiShaped } from './openai-shaped.ts'

const shared = {
  dimensions: 'dimensions',
  takesUser: true,
  takesTokens: true,
} as const satisfies Partial<Dialect>

/** https://platform.openai.com/docs/api-reference/embeddings: OpenAI, also at Azure, which refuse what they do not know. */
export const openai = openaiShaped({
  ...shared,
  name: 'openai',
  providers: ['openai', 'azure'],
  most: 2_048,
  base64: { encoding_format: 'base64' },
  keeps: 'plain',
})

/** Every server that speaks OpenAI's form; most have options of their own, or leave out what they do not know. */
export const compatible = openaiShaped({
  ...shared,
  name: 'compatible',
  most: 2_048,
  base64: { encoding_format: 'base64' },
  keeps: 'all',
})

/** Servers that do not know `encoding_format`. */
export const local = openaiShaped({ ...shared, name: 'local', providers: ['ollama', 'lmstudio'], keeps: 'all' })
