import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI, type Part } from '@google/genai'
import OpenAI from 'openai'
import type { JsonObject } from '../../../src/lib/json.ts'
import type { WireFormat } from '../../../src/types.ts'

const [apiKey, model] = ['k', 'm']

/** Collects a stream with the vendor's own client, so the response can be sent back in the next turn. */
export const answerOf: Readonly<Record<WireFormat, (stream: Response) => Promise<JsonObject>>> = {
  'openai-chat': async (response) => {
    const client = new OpenAI({ apiKey, fetch: async () => response, maxRetries: 0 })
    const { choices } = await client.chat.completions.stream({ model, messages: [] }).finalChatCompletion()
    return { choices }
  },
  'openai-responses': async (response) => {
    const client = new OpenAI({ apiKey, fetch: async () => response, maxRetries: 0 })
    const { output } = await client.responses.stream({ model, input: 'x' }).finalResponse()
    return { output }
  },
  'anthropic-messages': async (response) => {
    const client = new Anthropic({ apiKey, fetch: async () => response, maxRetries: 0 })
    const { content } = await client.messages.stream({ model, max_tokens: 9, messages: [] }).finalMessage()
    return { content }
  },
  gemini: async (response) => {
    const client = new GoogleGenAI({ apiKey, httpOptions: { fetch: async () => response } })
    const parts: Part[] = []
    for await (const { candidates } of await client.models.generateContentStream({ model, contents: 'x' }))
      parts.push(...(candidates?.[0]?.content?.parts ?? []))
    return { candidates: [{ content: { role: 'model', parts } }] }
  },
}
