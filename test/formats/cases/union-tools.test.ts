import type { JsonObject } from '../../../src/lib/json.ts'
import { wireFormats } from '../../../src/types/unions.ts'
import type { WireFormat } from '../../../src/types.ts'
import { json } from '../../pipeline/support/upstream.ts'
import { assert, suite } from '../../support/suite.ts'
import { fullResponses } from './responses.ts'
import { providerOf, send } from './support.ts'

const test = suite('cases: tools with a union of objects as their input')

const byId = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] }
const byPath = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] }
const union = { type: 'object', anyOf: [byId, byPath] }
const parts = { type: 'object', allOf: [byId, byPath] }

/** Returns each client's declaration of the tool `open`, and its field name for the schema. */
const bringing: Record<WireFormat, [tools: (schema: JsonObject) => JsonObject, path: string]> = {
  'openai-chat': [
    (parameters) => ({ tools: [{ type: 'function', function: { name: 'open', parameters } }] }),
    'tools[0].function.parameters',
  ],
  'openai-responses': [
    (parameters) => ({ tools: [{ type: 'function', name: 'open', parameters, strict: false }] }),
    'tools[0].parameters',
  ],
  'anthropic-messages': [(input_schema) => ({ tools: [{ name: 'open', input_schema }] }), 'tools[0].input_schema'],
  gemini: [
    (parametersJsonSchema) => ({ tools: [{ functionDeclarations: [{ name: 'open', parametersJsonSchema }] }] }),
    'tools[0].functionDeclarations[0].parametersJsonSchema',
  ],
}

function getSchema(sent: JsonObject): unknown {
  const { tools } = JSON.parse(JSON.stringify(sent))
  const { function: chat, functionDeclarations, ...tool } = tools[0]
  const { parameters, input_schema, parametersJsonSchema } = chat ?? functionDeclarations?.[0] ?? tool
  return parameters ?? input_schema ?? parametersJsonSchema
}

const pairs = wireFormats.flatMap((client) => wireFormats.map((target) => [client, target] as const))

for (const [client, target] of pairs) {
  const [bring, path] = bringing[client]
  const sendAll = (schema: JsonObject, headers: Record<string, string> = {}) =>
    send({
      client,
      model: `${providerOf[target]}/m`,
      body: bring(schema),
      headers,
      respond: () => json(fullResponses[target]),
    })

  if (client === target || target === 'gemini')
    test(`a union schema stays unchanged from ${client} to ${target}`, async () => {
      const { sent, warned } = await sendAll(union)
      assert.equal([getSchema(sent), warned], [union, []])
    })
  else
    test(`a union schema becomes a single object, with a warning, from ${client} to ${target}`, async () => {
      const { sent, warned } = await sendAll(union)
      const properties = { ...byId.properties, ...byPath.properties }
      assert.equal(getSchema(sent), { type: 'object', properties })
      assert.equal(warned, [`replaced:${path}`])
      const together = await sendAll(parts)
      assert.equal(getSchema(together.sent), { type: 'object', properties, required: ['id', 'path'] })
      assert.equal(together.warned, [], 'constraints shared by all alternatives are kept')
      const strict = await sendAll(union, { 'x-signalbox-strict': 'true' })
      assert.equal([strict.response.status, strict.upstream.calls.length], [400, 0])
    })
}

test("a merged union schema isn't strict, because OpenAI would reject it", async () => {
  const { call, warned } = await send({
    client: 'anthropic-messages',
    model: 'responses/m',
    body: { tools: [{ name: 'open', input_schema: union, strict: true }] },
    respond: () => json(fullResponses['openai-responses']),
  })
  assert.is(JSON.parse(call?.body ?? '').tools[0].strict, false)
  assert.equal(warned, ['replaced:tools[0].input_schema', 'dropped:tools[0].strict'])
})
