import { isGatewayError } from '../../src/errors.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { prepareRequest } from '../../src/protocols/formats/canonical/prepare/prepare.ts'
import { loadUpstreamFormat } from '../../src/protocols/formats/formats.ts'
import { getTraits } from '../../src/protocols/providers/provider-traits.ts'
import { wireFormats } from '../../src/types/unions.ts'
import type { ProviderFormat, WireFormat } from '../../src/types.ts'
import { assert, suite } from '../support/suite.ts'
import { PNG } from './fields/field.ts'
import { contexts } from './support/contexts.ts'
import { getTranslator } from './support/matrix.ts'

const test = suite('generated images')

const url = `data:image/png;base64,${PNG}`
const chatImage = { type: 'image_url', image_url: { url } }
const chat = (content: JsonObject) => ({
  messages: [
    { role: 'user', content: 'Draw' },
    { role: 'assistant', content: 'Here', ...content },
    { role: 'user', content: 'More' },
  ],
})

/** The turns in which clients send an image back, and the image's name in warnings. */
const original: readonly [name: string, from: WireFormat, path: string, body: JsonObject][] = [
  ['images', 'openai-chat', 'messages[1].images[0]', chat({ images: [{ ...chatImage, index: 0 }] })],
  ['a part', 'openai-chat', 'messages[1].content[1]', chat({ content: [{ type: 'text', text: 'Here' }, chatImage] })],
  [
    'a call',
    'openai-responses',
    'input[2]',
    {
      input: [
        { role: 'user', content: 'Draw' },
        { role: 'assistant', content: 'Here' },
        { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: PNG },
        { role: 'user', content: 'More' },
      ],
    },
  ],
  [
    'a block',
    'anthropic-messages',
    'messages[1].content[1]',
    {
      max_tokens: 9,
      messages: [
        { role: 'user', content: 'Draw' },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'Here' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
          ],
        },
        { role: 'user', content: 'More' },
      ],
    },
  ],
  [
    'inline data',
    'gemini',
    'contents[1].parts[1]',
    {
      contents: [
        { role: 'user', parts: [{ text: 'Draw' }] },
        { role: 'model', parts: [{ text: 'Here' }, { inlineData: { mimeType: 'image/png', data: PNG } }] },
        { role: 'user', parts: [{ text: 'More' }] },
      ],
    },
  ],
]

const label = 'From your answer before:'
const thoughtSignature = 'skip_thought_signature_validator'
const shown = {
  chat: [
    { role: 'assistant', content: 'Here' },
    { role: 'user', content: [{ type: 'text', text: label }, chatImage, { type: 'text', text: 'More' }] },
  ],
  responses: [
    { type: 'message', role: 'assistant', content: 'Here' },
    {
      type: 'message',
      role: 'user',
      content: [
        { type: 'input_text', text: label },
        { type: 'input_image', detail: 'auto', image_url: url },
        { type: 'input_text', text: 'More' },
      ],
    },
  ],
  messages: [
    { role: 'assistant', content: [{ type: 'text', text: 'Here' }] },
    {
      role: 'user',
      content: [
        { type: 'text', text: label },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
        { type: 'text', text: 'More' },
      ],
    },
  ],
  converse: [
    { role: 'assistant', content: [{ text: 'Here' }] },
    {
      role: 'user',
      content: [{ text: label }, { image: { format: 'png', source: { bytes: PNG } } }, { text: 'More' }],
    },
  ],
}

/** The content after the first question, and whether the image moved. `undefined` if the image is rejected. */
const targets: readonly [
  provider: string,
  model: string,
  format: ProviderFormat,
  output: unknown,
  isMoved?: boolean,
][] = [
  ['openai', 'gpt-5.6', 'openai-chat', shown.chat, true],
  ['custom', 'm', 'openai-chat', shown.chat, true],
  [
    'openrouter',
    'gemini-3-pro-image',
    'openai-chat',
    [
      { role: 'assistant', content: 'Here', images: [chatImage] },
      { role: 'user', content: 'More' },
    ],
  ],
  ['openai', 'gpt-5.6', 'openai-responses', shown.responses, true],
  ['anthropic', 'claude-opus-4-8', 'anthropic-messages', shown.messages, true],
  [
    'google',
    'gemini-3-pro-image',
    'gemini',
    [
      {
        role: 'model',
        parts: [
          { text: 'Here', thoughtSignature },
          { inlineData: { mimeType: 'image/png', data: PNG }, thoughtSignature },
        ],
      },
      { role: 'user', parts: [{ text: 'More' }] },
    ],
  ],
  ['bedrock', 'anthropic.claude-sonnet-4-5', 'bedrock-converse', shown.converse, true],
  ['bedrock', 'amazon.nova-micro-v1:0', 'bedrock-converse', undefined],
]

for (const [name, from, path, body] of original)
  for (const [provider, model, format, output, isMoved = false] of targets)
    test(`a generated image (${name}, ${from}) is converted or rejected for ${provider}/${model} (${format})`, async () => {
      const source = await getTranslator(from)
      const translator = await (await loadUpstreamFormat(format)).loadTranslator()
      const traits = getTraits(translator.traits, { provider, model, format }, {})
      const { warnings } = contexts(source)
      const target = { ...contexts(translator, { traits }).target, model, warnings }
      const write = () => {
        const parsed = source.parseRequest(body, { warnings, route: { model: 'm', stream: false } })
        const { request } = prepareRequest(parsed, { ...target, supportedOptions: translator.supportedOptions })
        return translator.writeRequest(request, target).body
      }
      if (output === undefined) {
        assert.throws(write, (error: unknown) => {
          assert.ok(isGatewayError(error, 'INVALID_REQUEST'))
          assert.is(error.data.param, path)
          assert.match(error.message, 'does not support images. Remove it, or use a model that supports it.')
          return true
        })
        return
      }
      const { messages, input, contents } = write()
      const turns = [messages, input, contents].find(Array.isArray) ?? []
      assert.equal(JSON.parse(JSON.stringify(turns.slice(1))), output)
      assert.equal(
        warnings.list().filter((warning) => warning.includes(path)),
        isMoved ? [`moved:${path}`] : [],
      )
    })

test('a reference to an image stored at OpenAI is dropped with a warning', async () => {
  const source = await getTranslator('openai-responses')
  for (const wireFormat of wireFormats) {
    const translator = await getTranslator(wireFormat)
    const { warnings } = contexts(source)
    const item = { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: null }
    const body = { input: [{ role: 'user', content: 'Draw' }, item, { role: 'user', content: 'More' }] }
    const parsed = source.parseRequest(body, { warnings, route: { model: 'm', stream: false } })
    prepareRequest(parsed, {
      ...contexts(translator).target,
      warnings,
      supportedOptions: translator.supportedOptions,
    })
    assert.equal(warnings.list(), ['dropped:input[1]'])
  }
})
