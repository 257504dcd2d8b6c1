import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogle } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import { createGateway, generateText, jsonSchema, type LanguageModel, Output } from 'ai'
import { HttpResponse, http } from 'msw'
import OpenAI from 'openai'
import type { JsonObject } from '../../src/lib/json.ts'
import { wireFormats } from '../../src/types/unions.ts'
import type { ClientFormat, WireFormat } from '../../src/types.ts'
import { validators } from '../formats/support/validators/validators.ts'
import { assert, suite } from '../support/suite.ts'
import { upstream } from '../support/upstream.ts'
import { ANSWER, QUESTION } from './support/sdk/conversation.ts'
import { MODEL, openBefore, outputBy } from './support/sdk/gateway.ts'

Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false }) // the AI SDK doesn't know this model

const test = suite('structured output with the SDKs')

type Fetch = typeof globalThis.fetch

const form = {
  type: 'object',
  properties: { city: { type: 'string' }, celsius: { type: 'integer' } },
  required: ['city', 'celsius'],
  additionalProperties: false,
} as const
const GIVEN = { city: 'Paris', celsius: 21 }

const image = { mediaType: 'image/png', data: 'iVBORw0KGgo=' }
const dataUrl = `data:${image.mediaType};base64,${image.data}`

/** Sends the same AI SDK call to a provider, and returns the parsed output. */
const ai = async (model: LanguageModel): Promise<unknown> => {
  const { output } = await generateText({
    model,
    maxRetries: 0,
    output: Output.object({ schema: jsonSchema<typeof GIVEN>(form) }),
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: QUESTION },
          { type: 'file', mediaType: image.mediaType, data: image.data },
        ],
      },
    ],
  })
  return output
}

/** Each client's call with an image and structured output. */
const asking: Readonly<Record<string, [ClientFormat, (fetch: Fetch) => Promise<unknown>]>> = {
  'openai, chat completions': [
    'openai-chat',
    async (fetch) => {
      const { choices } = await new OpenAI({
        baseURL: 'http://gateway/v1',
        apiKey: 'x',
        fetch,
      }).chat.completions.create({
        model: MODEL,
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: QUESTION },
              { type: 'image_url', image_url: { url: dataUrl } },
            ],
          },
        ],
        response_format: { type: 'json_schema', json_schema: { name: 'weather', strict: true, schema: form } },
      })
      return JSON.parse(choices[0]?.message.content ?? '')
    },
  ],
  'openai, responses': [
    'openai-responses',
    async (fetch) => {
      const { output_text } = await new OpenAI({ baseURL: 'http://gateway/v1', apiKey: 'x', fetch }).responses.create({
        model: MODEL,
        store: false,
        input: [
          {
            role: 'user',
            content: [
              { type: 'input_text', text: QUESTION },
              { type: 'input_image', image_url: dataUrl, detail: 'auto' },
            ],
          },
        ],
        text: { format: { type: 'json_schema', name: 'weather', strict: true, schema: form } },
      })
      return JSON.parse(output_text)
    },
  ],
  '@anthropic-ai/sdk': [
    'anthropic-messages',
    async (fetch) => {
      const { content } = await new Anthropic({ baseURL: 'http://gateway', apiKey: 'x', fetch }).messages.create({
        model: MODEL,
        max_tokens: 1_000,
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: QUESTION },
              {
                type: 'image',
                source: { type: 'base64', media_type: image.mediaType as 'image/png', data: image.data },
              }, // the image is a PNG
            ],
          },
        ],
        output_config: { format: { type: 'json_schema', schema: form } },
      })
      return JSON.parse(content.map((block) => (block.type === 'text' ? block.text : '')).join(''))
    },
  ],
  '@google/genai': [
    'gemini',
    async (fetch) => {
      const { models } = new GoogleGenAI({ apiKey: 'x', httpOptions: { baseUrl: 'http://gateway', fetch } })
      const { text } = await models.generateContent({
        model: MODEL,
        contents: [
          {
            role: 'user',
            parts: [{ text: QUESTION }, { inlineData: { mimeType: image.mediaType, data: image.data } }],
          },
        ],
        config: { responseMimeType: 'application/json', responseJsonSchema: form },
      })
      return JSON.parse(text ?? '')
    },
  ],
  'ai with @ai-sdk/openai, chat': [
    'openai-chat',
    (fetch) => ai(createOpenAI({ apiKey: 'x', baseURL: 'http://gateway/v1', fetch }).chat(MODEL)),
  ],
  'ai with @ai-sdk/openai, responses': [
    'openai-responses',
    (fetch) => ai(createOpenAI({ apiKey: 'x', baseURL: 'http://gateway/v1', fetch }).responses(MODEL)),
  ],
  'ai with @ai-sdk/anthropic': [
    'anthropic-messages',
    (fetch) => ai(createAnthropic({ apiKey: 'x', baseURL: 'http://gateway/v1', fetch })(MODEL)),
  ],
  'ai with @ai-sdk/gateway': [
    'ai-sdk',
    (fetch) => ai(createGateway({ apiKey: 'x', baseURL: 'http://gateway/v4/ai', fetch })(MODEL)),
  ],
  'ai with @ai-sdk/google': [
    'gemini',
    (fetch) => ai(createGoogle({ apiKey: 'x', baseURL: 'http://gateway/v1beta', fetch })(MODEL)),
  ],
}

for (const [name, [own, send]] of Object.entries(asking)) {
  for (const format of wireFormats) {
    test(`an SDK sends an image and gets structured output (${name}, ${format} provider)`, async () => {
      const requests: JsonObject[] = []
      const provider = upstream(
        http.post('*', async ({ request }) => {
          const body = Object(await request.json())
          requests.push(body)
          const problems = own === format ? [] : validators[format](body)
          if (problems.length > 0)
            return HttpResponse.json({ error: { message: problems.join('; ') } }, { status: 400 })
          return HttpResponse.json(createOutput(format, JSON.stringify(GIVEN)))
        }),
      )
      const { fetch } = await openBefore(format, provider)
      assert.equal(await send(fetch), GIVEN)
      const text = JSON.stringify(requests)
      assert.ok(text.includes(image.data) && text.includes('"celsius":{"type":"integer"}'), text)
    })
  }
}

/** Returns the provider's response with different text. */
function createOutput(format: WireFormat, content: string): JsonObject {
  const escapeJson = (text: string) => JSON.stringify(text).slice(1, -1)
  const [first, second] = ANSWER
  const full = JSON.stringify(outputBy(format).response.whole)
  return JSON.parse(full.replaceAll(escapeJson(first), escapeJson(content)).replaceAll(escapeJson(second), ''))
}
