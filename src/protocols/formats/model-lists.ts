import type { ClientFormat } from '../../types.ts'
import { aiSdkModels } from './ai-sdk/client/ai-sdk-client-models.ts'
import { anthropicModels } from './anthropic-messages/client/anthropic-client-models.ts'
import { geminiModels } from './gemini/client/gemini-client-models.ts'
import { type ModelListFormat, openaiModels } from './model-list.ts'

/** The model list writers, by client format. Loaded together with the listing code. */
export const modelListFormats: Readonly<Record<ClientFormat, ModelListFormat>> = {
  'openai-chat': openaiModels,
  'openai-responses': openaiModels,
  'anthropic-messages': anthropicModels,
  gemini: geminiModels,
  'ai-sdk': aiSdkModels,
}
