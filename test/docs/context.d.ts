/* Declares the names that TypeScript blocks in the documentation use but don't declare. */

import type { Anthropic as AnthropicClient } from '@anthropic-ai/sdk'
import type { GoogleGenAI as GoogleClient } from '@google/genai'
import type { OpenAI as OpenAIClient } from 'openai'
import type { Gateway } from '../../src/gateway.ts'
import type { Storage as SignalboxStorage } from '../../src/types.ts'

declare global {
  const OpenAI: typeof OpenAIClient
  const Anthropic: typeof AnthropicClient
  const GoogleGenAI: typeof GoogleClient
  const gateway: Gateway
  const storage: SignalboxStorage
  const connectionString: string
  const url: string
}
