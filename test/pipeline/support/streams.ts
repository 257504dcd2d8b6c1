import { wireFormats } from '../../../src/types/unions.ts'
import type { Catalog, WireFormat } from '../../../src/types.ts'

/** A provider of each format, named after the format, with the model `m`. */
export const streamCatalog: Catalog = Object.fromEntries(
  wireFormats.map((format) => [format, { baseUrl: `http://${format}.test/v1`, format, models: [{ id: 'm' }] }]),
)

const messages = [{ role: 'user', content: 'Hi' }]

/** Streaming requests as clients of each format send them. */
export const streamRequests: Record<WireFormat, (model: string) => [path: string, body: object]> = {
  'openai-chat': (model) => ['/v1/chat/completions', { model, stream: true, messages }],
  'openai-responses': (model) => ['/v1/responses', { model, stream: true, input: 'Hi' }],
  'anthropic-messages': (model) => ['/v1/messages', { model, stream: true, max_tokens: 9, messages }],
  gemini: (model) => [
    `/v1beta/models/${model}:streamGenerateContent?alt=sse`,
    { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
  ],
}
