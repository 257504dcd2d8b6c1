import type { JsonObject } from '../../../../src/lib/json.ts'
import { converseTranslator } from '../../../../src/protocols/formats/bedrock-converse/converse-translator.ts'
import { prepareRequest } from '../../../../src/protocols/formats/canonical/prepare/prepare.ts'
import { chatTranslator } from '../../../../src/protocols/formats/openai-chat/chat-translator.ts'
import { getTraits } from '../../../../src/protocols/providers/provider-traits.ts'
import { assert, suite } from '../../../support/suite.ts'
import { contexts } from '../../support/contexts.ts'

const test = suite('Converse schemas')

/** Returns a chat client's request as sent to a model on Bedrock. */
function write(model: string, request: JsonObject) {
  const { warnings } = contexts(chatTranslator)
  const traits = getTraits(converseTranslator.traits, { provider: 'bedrock', model, format: 'bedrock-converse' }, {})
  const target = { model, traits, origin: { format: 'bedrock-converse' as const, account: 'a' }, warnings }
  const input = chatTranslator.parseRequest(
    { model: 'x', messages: [{ role: 'user', content: 'Hi' }], ...request },
    { warnings },
  )
  const { request: prepared } = prepareRequest(input, {
    ...target,
    supportedOptions: converseTranslator.supportedOptions,
  })
  return { ...converseTranslator.writeRequest(prepared, target), warnings: warnings.list() }
}

const input = { type: 'object', properties: { a: { type: 'integer', minimum: 1 }, b: { type: 'object' } } }
const enforced = {
  type: 'object',
  properties: {
    a: { type: 'integer', description: '{minimum: 1}' },
    b: { type: 'object', additionalProperties: false },
  },
  additionalProperties: false,
}

for (const model of ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', 'openai.gpt-oss-120b-1:0'])
  test(`an output schema becomes enforceable (${model})`, () => {
    const json_schema = { name: 'n', description: 'D', schema: input }
    const { body, warnings } = write(model, { response_format: { type: 'json_schema', json_schema } })
    const jsonSchema = { schema: JSON.stringify(enforced), name: 'n', description: 'D' }
    assert.equal(body.outputConfig, { textFormat: { type: 'json_schema', structure: { jsonSchema } } })
    assert.equal(warnings, ['moved:response_format'])
  })

test('a tool schema becomes enforceable only if the tool is strict', () => {
  const tool = (name: string, strict: boolean) => ({ type: 'function', function: { name, parameters: input, strict } })
  const spec = (name: string, json: object) => ({ toolSpec: { name, inputSchema: { json } } })
  const bare = { type: 'function', function: { name: 'h', strict: true } }
  const { body, warnings } = write('anthropic.claude-sonnet-4-5', {
    tools: [tool('f', true), tool('g', false), bare],
  })
  const strict = ({ toolSpec }: ReturnType<typeof spec>) => ({ toolSpec: { ...toolSpec, strict: true } })
  assert.equal(body.toolConfig, {
    tools: [
      strict(spec('f', enforced)),
      spec('g', input),
      strict(spec('h', { properties: {}, type: 'object', additionalProperties: false })),
    ],
  })
  assert.equal(warnings, ['moved:tools[0]'])
})
