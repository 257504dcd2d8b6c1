import type { WireFormat } from '../../../src/types.ts'

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII='

const text = 'What is it?'
const system = 'Be brief.'
const tool = { name: 'look', description: 'Looks.' }
const schema = { type: 'object', properties: { at: { type: 'string' } }, required: ['at'] }

/** The path and body of a request in each format: an image, a question about it, and a tool for looking more closely. */
export const questions: Readonly<Record<WireFormat, (model: string, stream: boolean) => [path: string, body: object]>> =
  {
    'openai-chat': (model, stream) => [
      '/v1/chat/completions',
      {
        model,
        ...(stream && { stream, stream_options: { include_usage: true } }),
        messages: [
          { role: 'system', content: system },
          {
            role: 'user',
            content: [
              { type: 'text', text },
              { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
            ],
          },
        ],
        tools: [{ type: 'function', function: { ...tool, parameters: schema } }],
      },
    ],
    'openai-responses': (model, stream) => [
      '/v1/responses',
      {
        model,
        stream,
        instructions: system,
        input: [
          {
            role: 'user',
            content: [
              { type: 'input_text', text },
              { type: 'input_image', image_url: `data:image/png;base64,${PNG}` },
            ],
          },
        ],
        tools: [{ type: 'function', ...tool, parameters: schema, strict: false }],
      },
    ],
    'anthropic-messages': (model, stream) => [
      '/v1/messages',
      {
        model,
        max_tokens: 1_000,
        stream,
        system,
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text },
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
            ],
          },
        ],
        tools: [{ ...tool, input_schema: schema }],
      },
    ],
    gemini: (model, stream) => [
      `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
      {
        systemInstruction: { parts: [{ text: system }] },
        contents: [{ role: 'user', parts: [{ text }, { inlineData: { mimeType: 'image/png', data: PNG } }] }],
        tools: [{ functionDeclarations: [{ ...tool, parameters: schema }] }],
      },
    ],
  }
