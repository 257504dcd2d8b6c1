import { wireFormats } from '../../src/lib/unions.ts'
import type { WireFormat } from '../../src/types.ts'
import { assert, suite } from '../support/suite.ts'
import {
  createAiChatClient,
  createAiGeminiClient,
  createAiMessagesClient,
  createAiResponsesClient,
  createAiStatelessClient,
} from './support/sdk/clients/ai.ts'
import { createMessagesClient } from './support/sdk/clients/anthropic-messages.ts'
import type { CreateClient } from './support/sdk/clients/client.ts'
import { createGeminiClient } from './support/sdk/clients/gemini.ts'
import { createChatClient } from './support/sdk/clients/openai-chat.ts'
import { createResponsesClient } from './support/sdk/clients/openai-responses.ts'
import { EXPECTED, SIGNATURE } from './support/sdk/conversation.ts'
import { MODEL, openGateway } from './support/sdk/gateway.ts'

const test = suite('the SDKs through the gateway')

interface Known {
  create: CreateClient
  format: WireFormat
  /** Does it send back what only the provider understands? OpenAI's chat knows no such thing, and keeps it only in messages as they came. */
  echoes: 'always' | 'whole' | 'never'
}

const clients: Readonly<Record<string, Known>> = {
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

for (const [name, { create, format: own, echoes }] of Object.entries(clients)) {
  for (const format of wireFormats) {
    for (const stream of [false, true]) {
      test(`${name} runs its tools with a provider of ${format}, ${stream ? 'streamed' : 'whole'}`, async () => {
        const { fetch, asked } = await openGateway(format, own)
        assert.equal(await create(fetch).converse(MODEL, { stream }), EXPECTED)
        assert.is(asked.length, 2)
        if (format === 'openai-chat') return // has nothing that only it understands
        const isEchoed = echoes === 'always' || (echoes === 'whole' && !stream)
        assert.is(JSON.stringify(asked[1]).includes(SIGNATURE), isEchoed)
      })
    }
  }
}
