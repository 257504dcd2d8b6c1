import { openaiShaped } from './openai-shaped.ts'

/** OpenAI, Azure, and every server that speaks their form. */
export const openai = openaiShaped({
  name: 'openai',
  most: 2_048,
  dimensions: 'dimensions',
  base64: { encoding_format: 'base64' },
  takesUser: true,
  takesTokens: true,
  keepsWords: true,
})

/** Servers that do not know `encoding_format`, or send nothing when they are asked for base64. */
export const openaiFloats = openaiShaped({
  name: 'openai-floats',
  providers: ['ollama', 'lmstudio', 'openrouter'],
  dimensions: 'dimensions',
  takesUser: true,
  takesTokens: true,
  keepsWords: true,
})
