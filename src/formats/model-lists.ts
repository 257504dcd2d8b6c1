import type { WireFormat } from '../types.ts'
import { anthropicModels } from './anthropic-messages/client/models.ts'
import { geminiModels } from './gemini/client/models.ts'
import { type ModelListFormat, openaiModels } from './model-list.ts'

/** How the list of models is written for the clients of each format. Loaded with the listing. */
export const modelLists: Readonly<Record<WireFormat, ModelListFormat>> = {
  'openai-chat': openaiModels,
  'openai-responses': openaiModels,
  'anthropic-messages': anthropicModels,
  gemini: geminiModels,
}
