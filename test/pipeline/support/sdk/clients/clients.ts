import type { ClientFormat } from '../../../../../src/types.ts'
import {
  createAi6GatewayClient,
  createAiChatClient,
  createAiGatewayClient,
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
  format: ClientFormat
  /** Whether the client sends only the ID of content that a provider of its own format has stored. */
  refers?: true
}

/** Four vendors' clients, and the AI SDK with its provider for each vendor. */
export const clients: Readonly<Record<string, KnownClient>> = {
  'openai, chat completions': { create: createChatClient, format: 'openai-chat' },
  'openai, responses': { create: createResponsesClient, format: 'openai-responses' },
  '@anthropic-ai/sdk': { create: createMessagesClient, format: 'anthropic-messages' },
  '@google/genai': { create: createGeminiClient, format: 'gemini' },
  'ai with @ai-sdk/openai, chat': { create: createAiChatClient, format: 'openai-chat' },
  'ai with @ai-sdk/openai, responses': { create: createAiResponsesClient, format: 'openai-responses', refers: true },
  'ai with @ai-sdk/openai, responses that are not stored': {
    create: createAiStatelessClient,
    format: 'openai-responses',
  },
  'ai with @ai-sdk/anthropic': { create: createAiMessagesClient, format: 'anthropic-messages' },
  'ai with @ai-sdk/gateway': { create: createAiGatewayClient, format: 'ai-sdk' },
  'ai 6 with @ai-sdk/gateway': { create: createAi6GatewayClient, format: 'ai-sdk' },
  'ai with @ai-sdk/google': { create: createAiGeminiClient, format: 'gemini' },
}
