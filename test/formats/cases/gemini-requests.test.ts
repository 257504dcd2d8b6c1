import type { JsonObject } from '../../../src/lib/json.ts'
import type { WireFormat } from '../../../src/types.ts'
import { json } from '../../pipeline/support/upstream.ts'
import { assert, suite } from '../../support/suite.ts'
import { fullResponses } from './responses.ts'
import { getFormat, send } from './support.ts'

const test = suite('cases: Gemini clients and models')

const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]
const parameters = { type: 'object', properties: { a: { type: 'string' } } }
const declaration = { name: 'look', parameters }

async function sentTo(model: string, body: JsonObject, client: WireFormat = 'gemini') {
  const input = await send({ client, model, body, respond: () => json(fullResponses[getFormat(model)]) })
  assert.is(input.response.status, 200, await input.response.clone().text())
  return input
}

test("tools sent as a single object become the request's tools", async () => {
  const body = { contents, tools: { functionDeclarations: [declaration] } }
  const { sent, warned } = await sentTo('chat/m', body)
  assert.equal([sent.tools, warned], [[{ type: 'function', function: declaration }], []])
})

test("a function declaration outside a list becomes the request's tool", async () => {
  const { sent } = await sentTo('chat/m', { contents, tools: [{ function_declarations: declaration }] })
  assert.equal(sent.tools, [{ type: 'function', function: declaration }])
})

test('the warning about an unsupported tool in a single object contains its path', async () => {
  const body = { contents, tools: { functionDeclarations: [declaration], codeExecution: {} } }
  assert.equal((await sentTo('chat/m', body)).warned, ['dropped:tools.codeExecution'])
})

const schema = { type: 'object', properties: { first_name: { type: 'string' } }, required: ['first_name'] }

/** Response formats that clients set, and the fields that providers of other formats receive. */
const formats: Record<string, JsonObject> = {
  'in a list': { responseFormat: [{ text: { mimeType: 'application/json', schema } }] },
  'as one object': { responseFormat: { text: { mimeType: 'application/json', schema } } },
  "with Google's enum name": { responseFormat: { text: { mimeType: 'APPLICATION_JSON', schema } } },
  'without a media type': { responseFormat: [{ text: { schema } }] },
  'in snake case': { response_format: [{ text: { mime_type: 'application/json', schema } }] },
}

for (const [name, generationConfig] of Object.entries(formats)) {
  test(`a schema in a responseFormat ${name} reaches other formats unchanged`, async () => {
    const chat = await sentTo('chat/m', { contents, generationConfig })
    assert.equal(
      [chat.sent.response_format, chat.warned],
      [{ type: 'json_schema', json_schema: { name: 'answer', schema } }, []],
    )
    const messages = await sentTo('anthropic/claude-sonnet-4-6', { contents, generationConfig })
    assert.match(JSON.stringify(messages.sent.output_config), /"first_name":\{"type":"string"\}/)
    const responses = await sentTo('responses/m', { contents, generationConfig })
    assert.match(JSON.stringify(responses.sent.text), /"type":"json_schema".*"first_name":\{"type":"string"\}/)
  })
}

test('a plain text responseFormat has no effect, and a JSON responseFormat requests an object', async () => {
  const plain = { responseFormat: [{ text: { mimeType: 'text/plain' } }] }
  assert.is((await sentTo('chat/m', { contents, generationConfig: plain })).sent.response_format, undefined)
  const anyJson = { responseFormat: [{ text: { mimeType: 'application/json' } }] }
  const { sent } = await sentTo('chat/m', { contents, generationConfig: anyJson })
  assert.equal(sent.response_format, { type: 'json_object' })
})

test('an image responseFormat is dropped with a warning', async () => {
  const generationConfig = { responseFormat: [{ text: { schema } }, { image: { aspectRatio: '1:1' } }] }
  const { warned } = await sentTo('chat/m', { contents, generationConfig })
  assert.equal(warned, ['dropped:generationConfig.responseFormat[1].image'])
})

const both = {
  messages: [{ role: 'user', content: 'Hi' }],
  web_search_options: {},
  tools: [{ type: 'function', function: declaration }],
}

for (const model of ['gemini/gemini-2.5-pro', 'gemini/gemini-2.0-flash']) {
  test(`${model} gets the functions of a request that also has a search`, async () => {
    const { sent, warned } = await sentTo(model, both, 'openai-chat')
    assert.match(JSON.stringify(sent.tools), /^\[\{"functionDeclarations":\[\{"name":"look"/)
    assert.not.match(JSON.stringify(sent), /googleSearch|includeServerSide/)
    assert.equal(warned, ['dropped:web_search_options'])
  })
}

test('a newer Gemini model gets the search and the functions', async () => {
  const { sent, warned } = await sentTo('gemini/gemini-3-pro-preview', both, 'openai-chat')
  assert.match(JSON.stringify(sent.tools), /functionDeclarations.*googleSearch/)
  assert.equal(warned, [])
})

test('an older Gemini model gets the search if there are no functions', async () => {
  const { sent, warned } = await sentTo('gemini/gemini-2.5-pro', { ...both, tools: [] }, 'openai-chat')
  assert.equal([sent.tools, warned], [[{ googleSearch: {} }], []])
})

test('an older Gemini model with a forced search gets no functions', async () => {
  const tools = [
    { type: 'web_search_20250305', name: 'web_search' },
    { name: 'look', input_schema: parameters },
  ]
  const body = { messages: both.messages, tools, tool_choice: { type: 'tool', name: 'web_search' } }
  const { sent, warned } = await sentTo('gemini/gemini-2.5-pro', body, 'anthropic-messages')
  assert.equal(sent.tools, [{ googleSearch: {} }])
  assert.ok(warned.includes('dropped:tools[1]'), warned.join())
})
