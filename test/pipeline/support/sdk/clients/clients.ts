import type { WireFormat } from '../../../../../src/types.ts'
import {
  createAiChatClient,
  createAiGeminiClient,
  createAiMessagesClient,
  createAiResponsesClient,
  createAiStatelessClient,
} from './ai.ts'
import { createMessagesClient } from './anthropic-messages.ts'
import type { CreateClient } from './client.ts'
import { createGeminiClient } from './gemini.ts'
import { createChatClient } from './openai-chat.ts'
import { createResponsesClient } from './openai-responses.ts'

export interface KnownClient {
  create: CreateClient
  format: WireFormat
  /** Does it send back what only the provider understands? OpenAI's chat knows no such thing, and keeps it only in messages as they came. */
  echoes: 'always' | 'whole' | 'never'
}

/** The clients of four vendors, and the AI SDK over each of the providers that it has for them. */
export const clients: Readonly<Record<string, KnownClient>> = {
  'openai, chat completions': { create: createChatClient, format: 'openai-chat', echoes: 'whole' },
  'openai, responses': { create: createResponsesClient, format: 'openai-responses', echoes: 'always' },
  '@anthropic-ai/sdk': { create: createMessagesClient, format: 'anthropic-messages', echoes: 'always' },
  '@google/genai': { create: createGeminiClient, format: 'gemini', echoes: 'always' },
  'ai with @ai-sdk/openai, chat': { create: createAiChatClient, format: 'openai-chat', echoes: 'never' },
  'ai with @ai-sdk/openai, responses': { create: createAiResponsesClient, format: 'openai-responses', echoes: 'never' },
  'ai with @ai-sdk/openai, responses that are not stored': {
    create: createAiStatelessClient,
    format: 'openai-responses',
    echoes: 'always',
  },
  'ai with @ai-sdk/anthropic': { create: createAiMessagesClient, format: 'anthropic-messages', echoes: 'always' },
  'ai with @ai-sdk/google': { create: createAiGeminiClient, format: 'gemini', echoes: 'always' },
}
