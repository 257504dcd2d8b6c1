import type { JsonObject } from '../../src/lib/json.ts'
import { completeInputSchema } from '../../src/protocols/formats/openai-fields.ts'
import { json } from '../pipeline/support/upstream.ts'
import { assert, suite } from '../support/suite.ts'
import { fullResponses } from './cases/responses.ts'
import { send } from './cases/support.ts'

const test = suite('function inputs for OpenAI')

const nothing = { type: 'object', properties: {} }
const complete: JsonObject[] = [
  { type: 'object', properties: { a: {} }, required: ['a'] },
  { type: 'string' },
  { anyOf: [{ type: 'object' }] },
  { $ref: '#/$defs/a', $defs: {} },
]

test('an input schema becomes an object schema with a properties field', () => {
  assert.equal(completeInputSchema(undefined), nothing)
  assert.equal(completeInputSchema({}), nothing)
  assert.equal(completeInputSchema({ type: 'object' }), nothing)
  assert.equal(completeInputSchema({ type: 'object', additionalProperties: false }), {
    ...nothing,
    additionalProperties: false,
  })
  assert.equal(completeInputSchema({ properties: { a: {} } }), { type: 'object', properties: { a: {} } })
  for (const schema of complete) assert.is(completeInputSchema(schema), schema)
})

const tools = {
  'anthropic-messages': [{ name: 'f', input_schema: { type: 'object' } }],
  gemini: [{ functionDeclarations: [{ name: 'f', parametersJsonSchema: {} }] }],
}

for (const client of ['anthropic-messages', 'gemini'] as const) {
  test(`the schema of a function without parameters has a properties field (${client} client)`, async () => {
    const body = { tools: tools[client] }
    const chat = await send({ client, model: 'chat/m', respond: () => json(fullResponses['openai-chat']), body })
    assert.equal(chat.sent.tools, [{ type: 'function', function: { name: 'f', parameters: nothing } }])
    const responses = await send({
      client,
      model: 'responses/m',
      respond: () => json(fullResponses['openai-responses']),
      body,
    })
    assert.equal(responses.sent.tools, [{ type: 'function', name: 'f', parameters: nothing, strict: false }])
  })
}
