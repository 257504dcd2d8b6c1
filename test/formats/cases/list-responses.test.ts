import type { JsonObject } from '../../../src/lib/json.ts'
import { json } from '../../pipeline/support/upstream.ts'
import { assert, suite } from '../../support/suite.ts'
import { answerOf } from './collect-response.ts'
import { fullResponses, output } from './responses.ts'
import { getStream, send } from './support.ts'

const test = suite('cases: array responses')

const list = { type: 'array', items: { $ref: '#/$defs/city' } }
const $defs = { city: { type: 'string' } }
const wrapped = {
  type: 'object',
  properties: { answer: list },
  required: ['answer'],
  additionalProperties: false,
  $defs,
}
const body = {
  generationConfig: { responseMimeType: 'application/json', responseJsonSchema: { ...list, $defs } },
}
const request = { client: 'gemini', model: 'openai/gpt-4.1', body } as const

const createResponse = (content: string) => ({
  ...fullResponses['openai-chat'],
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
})
const getText = ({ candidates }: JsonObject): string => {
  const [{ content }] = candidates as [{ content: { parts: { text: string }[] } }]
  return content.parts.map(({ text }) => text).join('')
}

test('an array is requested inside an object, and the client gets the bare array', async () => {
  const { sent, response, warned } = await send({
    ...request,
    respond: () => json(createResponse('{"answer": ["Bern"]}')),
  })
  assert.equal((sent.response_format as { json_schema: JsonObject }).json_schema.schema, wrapped)
  assert.equal([getText(await response.json()), warned], ['["Bern"]', []])
})

test('an array is also unwrapped in a stream', async () => {
  const respond = () => getStream('openai-chat', output['openai-chat']('{"ans', 'wer": [12', ',"Bern"]', '}'))
  const { response } = await send({ ...request, stream: true, respond })
  assert.is(getText(await answerOf.gemini(response)), '[12,"Bern"]')
})

test('a truncated array arrives up to the cutoff, and other text stays unchanged', async () => {
  for (const [text, expected] of [
    ['{"answer": ["Be', '["Be'],
    ['I cannot.', 'I cannot.'],
    ['{"answer":[],"more":1}', '{"answer":[],"more":1}'],
  ] as const) {
    const { response } = await send({ ...request, respond: () => json(createResponse(text)) })
    assert.is(getText(await response.json()), expected)
  }
})

test("an array is requested through a tool if the target doesn't support schemas", async () => {
  const use = { type: 'tool_use', id: 't1', name: 'answer', input: { answer: ['Bern'] } }
  const { sent, response } = await send({
    ...request,
    model: 'messages/claude-3-5-haiku',
    respond: () => json({ ...fullResponses['anthropic-messages'], content: [use], stop_reason: 'tool_use' }),
  })
  const [tool] = sent.tools as JsonObject[]
  assert.equal(tool?.input_schema, wrapped)
  assert.is(getText(await response.json()), '["Bern"]')
})

test('targets that accept an array schema get it unchanged', async () => {
  const output_config = { format: { type: 'json_schema', schema: { ...list, $defs } } }
  const { sent } = await send({
    client: 'anthropic-messages',
    model: 'gemini/m',
    body: { output_config },
    respond: () => json(fullResponses.gemini),
  })
  assert.equal((sent.generationConfig as JsonObject).responseJsonSchema, { ...list, $defs })
})
