import { inputSchema } from '../../src/formats/openai-fields.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { json } from '../pipeline/support/upstream.ts'
import { assert, suite } from '../support/suite.ts'
import { whole } from './cases/answers.ts'
import { ask } from './cases/support.ts'

const test = suite('the input of a function for OpenAI')

const nothing = { type: 'object', properties: {} }
const complete: JsonObject[] = [
  { type: 'object', properties: { a: {} }, required: ['a'] },
  { type: 'string' },
  { anyOf: [{ type: 'object' }] },
  { $ref: '#/$defs/a', $defs: {} },
]

test('the schema is that of an object with properties, even if there are none', () => {
  assert.equal(inputSchema(undefined), nothing)
  assert.equal(inputSchema({}), nothing)
  assert.equal(inputSchema({ type: 'object' }), nothing)
  assert.equal(inputSchema({ type: 'object', additionalProperties: false }), {
    ...nothing,
    additionalProperties: false,
  })
  assert.equal(inputSchema({ properties: { a: {} } }), { type: 'object', properties: { a: {} } })
  for (const schema of complete) assert.is(inputSchema(schema), schema)
})

const tools = {
  'anthropic-messages': [{ name: 'f', input_schema: { type: 'object' } }],
  gemini: [{ functionDeclarations: [{ name: 'f', parametersJsonSchema: {} }] }],
}

for (const client of ['anthropic-messages', 'gemini'] as const) {
  test(`the schema of functions without parameters of ${client} has properties`, async () => {
    const body = { tools: tools[client] }
    const chat = await ask({ client, model: 'chat/m', answer: () => json(whole['openai-chat']), body })
    assert.equal(chat.sent.tools, [{ type: 'function', function: { name: 'f', parameters: nothing } }])
    const responses = await ask({ client, model: 'responses/m', answer: () => json(whole['openai-responses']), body })
    assert.equal(responses.sent.tools, [{ type: 'function', name: 'f', parameters: nothing, strict: false }])
  })
}
