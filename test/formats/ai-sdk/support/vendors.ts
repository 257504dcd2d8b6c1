import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogle } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import type { LanguageModel } from 'ai'
import type { WireFormat } from '../../../../src/types.ts'

type Fetch = typeof globalThis.fetch

interface Vendor {
  /** The vendor's name in Signalbox. */
  provider: string
  model: string
  /** Creates a model with the AI SDK's package for the vendor. */
  create(fetch: Fetch): (model: string) => LanguageModel
}

const createSettings = (fetch: Fetch) => ({ apiKey: 'x', baseURL: 'http://vendor.test/v1', fetch })

/** One vendor per format, with the AI SDK's package for that vendor. */
export const vendors: Readonly<Record<WireFormat, Vendor>> = {
  'openai-chat': { provider: 'openai', model: 'gpt-4.1', create: (fetch) => createOpenAI(createSettings(fetch)).chat },
  'openai-responses': {
    provider: 'openai',
    model: 'gpt-5.6',
    create: (fetch) => createOpenAI(createSettings(fetch)).responses,
  },
  'anthropic-messages': {
    provider: 'anthropic',
    model: 'claude-sonnet-4-5',
    create: (fetch) => createAnthropic(createSettings(fetch)),
  },
  gemini: { provider: 'google', model: 'gemini-3-pro-preview', create: (fetch) => createGoogle(createSettings(fetch)) },
}
