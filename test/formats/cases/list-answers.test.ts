import type { JsonObject } from '../../../src/lib/json.ts'
import { json } from '../../pipeline/support/upstream.ts'
import { assert, suite } from '../../support/suite.ts'
import { answerOf } from './answer-of.ts'
import { said, whole } from './answers.ts'
import { ask, streamOf } from './support.ts'

const test = suite('cases: an answer that is to be a list')

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
const question = { client: 'gemini', model: 'openai/gpt-4.1', body } as const

const saying = (content: string) => ({
  ...whole['openai-chat'],
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
})
const textOf = ({ candidates }: JsonObject): string => {
  const [{ content }] = candidates as [{ content: { parts: { text: string }[] } }]
  return content.parts.map(({ text }) => text).join('')
}

test('is asked for within an object, and is a list for the client', async () => {
  const { sent, response, warned } = await ask({ ...question, answer: () => json(saying('{"answer": ["Bern"]}')) })
  assert.equal((sent.response_format as { json_schema: JsonObject }).json_schema.schema, wrapped)
  assert.equal([textOf(await response.json()), warned], ['["Bern"]', []])
})

test('is a list in a stream', async () => {
  const answer = () => streamOf('openai-chat', said['openai-chat']('{"ans', 'wer": [12', ',"Bern"]', '}'))
  const { response } = await ask({ ...question, stream: true, answer })
  assert.is(textOf(await answerOf.gemini(response)), '[12,"Bern"]')
})

test('is the beginning of a list where it was cut, and other words are as they were', async () => {
  for (const [text, expected] of [
    ['{"answer": ["Be', '["Be'],
    ['I cannot.', 'I cannot.'],
    ['{"answer":[],"more":1}', '{"answer":[],"more":1}'],
  ] as const) {
    const { response } = await ask({ ...question, answer: () => json(saying(text)) })
    assert.is(textOf(await response.json()), expected)
  }
})

test('is asked for by a tool where the target knows no schema', async () => {
  const use = { type: 'tool_use', id: 't1', name: 'answer', input: { answer: ['Bern'] } }
  const { sent, response } = await ask({
    ...question,
    model: 'messages/claude-3-5-haiku',
    answer: () => json({ ...whole['anthropic-messages'], content: [use], stop_reason: 'tool_use' }),
  })
  const [tool] = sent.tools as JsonObject[]
  assert.equal(tool?.input_schema, wrapped)
  assert.is(textOf(await response.json()), '["Bern"]')
})

test('is asked for as it is where lists are taken', async () => {
  const output_config = { format: { type: 'json_schema', schema: { ...list, $defs } } }
  const { sent } = await ask({
    client: 'anthropic-messages',
    model: 'gemini/m',
    body: { output_config },
    answer: () => json(whole.gemini),
  })
  assert.equal((sent.generationConfig as JsonObject).responseJsonSchema, { ...list, $defs })
})
