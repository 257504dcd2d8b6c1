import type { JsonObject } from '../../../src/lib/json.ts'
import { json } from '../../pipeline/support/upstream.ts'
import { assert, suite } from '../../support/suite.ts'
import { fullResponses } from './responses.ts'
import { getFormat, send } from './support.ts'

const test = suite('cases: documents for providers that only support files')

const PDF = 'JVBERi0xLjQK'
const about = { title: 'Report', context: 'Of 2024.', citations: { enabled: true } }
const document = (source: JsonObject) => ({ type: 'document', source, ...about })
const pdf = document({ type: 'base64', media_type: 'application/pdf', data: PDF })
const plain = document({ type: 'text', media_type: 'text/plain', data: 'All went well.' })

const createRequest = (...content: JsonObject[]) => ({ messages: [{ role: 'user', content }] })

const texts = 'Report\n\nOf 2024.\n\nAll went well.'

/** The expected user turn, and whether the title is dropped. */
const expected: Record<string, { plain: JsonObject; pdf: JsonObject[]; lost: string[] }> = {
  'openai/gpt-4.1': {
    plain: { type: 'text', text: texts },
    pdf: [
      { type: 'text', text: 'Of 2024.' },
      { type: 'file', file: { file_data: `data:application/pdf;base64,${PDF}`, filename: 'Report.pdf' } },
    ],
    lost: [],
  },
  'responses/m': {
    plain: { type: 'input_text', text: texts },
    pdf: [
      { type: 'input_text', text: 'Of 2024.' },
      { type: 'input_file', file_data: `data:application/pdf;base64,${PDF}`, filename: 'Report.pdf' },
    ],
    lost: [],
  },
  'gemini/m': {
    plain: { text: texts },
    pdf: [{ text: 'Of 2024.' }, { inlineData: { mimeType: 'application/pdf', data: PDF } }],
    lost: ['dropped:messages[0].content[1].title'],
  },
}

for (const [model, { plain: text, pdf: file, lost }] of Object.entries(expected)) {
  test(`documents keep their text, and dropped fields are reported (${model})`, async () => {
    const body = createRequest(plain, pdf)
    const respond = () => json(fullResponses[getFormat(model)])
    const { sent, warned } = await send({ client: 'anthropic-messages', model, body, respond })
    const [turn] = [sent.messages, sent.input, sent.contents].find(Array.isArray) ?? []
    assert.equal(turn.content ?? turn.parts, [text, ...file])
    const cited = [0, 1].map((index) => `dropped:messages[0].content[${index}].citations`)
    assert.equal(warned, [...cited, ...lost])
  })
}

test('a document in a tool result becomes text', async () => {
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'f', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: [plain] }] },
  ]
  const { sent } = await send({
    client: 'anthropic-messages',
    model: 'gemini/m',
    body: { messages },
    respond: () => json(fullResponses.gemini),
  })
  const { parts } = Object(sent.contents)[2]
  assert.equal(parts[0].functionResponse.response, { output: texts })
})
