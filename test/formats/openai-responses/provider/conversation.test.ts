import type { Turn } from '../../../../src/protocols/formats/canonical/canonical-turns.ts'
import { assert, suite } from '../../../support/suite.ts'
import { write } from '../support/write-request.ts'

const test = suite('writing the input of a Responses request')

const getItems = (...turns: Turn[]) => write({ turns }).body.input
const text = (value: string) => ({ type: 'text', text: value }) as const
const origin = { format: 'openai-responses', account: 'vendor/1' } as const
const message = (role: string, content: unknown) => ({ type: 'message', role, content })

test('an assistant turn becomes items in order, without IDs', () => {
  const turn: Turn = {
    role: 'assistant',
    content: [
      { type: 'reasoning', text: 't', isSummary: true, state: { origin, kind: 'encrypted', data: 'g', id: 'rs_1' } },
      { type: 'reasoning', text: 'raw', state: { origin, kind: 'text', data: '' } },
      { type: 'text', text: 'a', phase: 'commentary' },
      { type: 'text', text: 'b' },
      { type: 'text', text: 'c' },
      { type: 'refusal', text: 'no' },
      { type: 'tool-call', id: 'c1', name: 'f', arguments: '{"n":12345678901234567890}' },
      { type: 'tool-call', id: 'c2', name: 'g', arguments: '' },
      { type: 'tool-call', id: 'c3', name: 'patch', arguments: '', isFreeForm: true },
    ],
  }
  assert.equal(getItems(turn), [
    { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 't' }], encrypted_content: 'g' },
    { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'raw' }] },
    { ...message('assistant', 'a'), phase: 'commentary' },
    message('assistant', [
      { type: 'output_text', text: 'b', annotations: [] },
      { type: 'output_text', text: 'c', annotations: [] },
      { type: 'refusal', refusal: 'no' },
    ]),
    { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{"n":12345678901234567890}' },
    { type: 'function_call', call_id: 'c2', name: 'g', arguments: '{}' },
    { type: 'custom_tool_call', call_id: 'c3', name: 'patch', input: '' },
  ])
})

test("the model's audio is sent as its transcript", () => {
  const source = { type: 'base64', mediaType: 'audio/wav', data: 'AAAA' } as const
  const { body, warnings } = write({
    turns: [{ role: 'assistant', content: [{ type: 'audio', source, transcript: 'spoken' }] }],
  })
  assert.equal(body.input, [message('assistant', 'spoken')])
  assert.equal(warnings, [])
})

test('tool results become text or parts, and plain text for providers that only accept text', () => {
  const getResults = (...content: object[]) => [{ role: 'tool', results: [{ callId: 'c1', content }] }] as Turn[]
  const getOutput = (turns: Turn[], options = {}) => {
    const [item] = write({ turns }, options).body.input as { output: unknown }[]
    return item?.output
  }
  const image = { type: 'image', source: { type: 'url', url: 'https://a.example/i' } }
  const wireImage = { type: 'input_image', detail: 'auto', image_url: 'https://a.example/i' }
  const parts = [{ type: 'input_text', text: 'a' }, wireImage]
  assert.is(getOutput(getResults()), '')
  assert.is(getOutput(getResults(text('a'))), 'a')
  assert.equal(getOutput(getResults(text('a'), image)), parts)
  assert.is(getOutput(getResults(text('a'), text('b')), { traits: { toolResultInputs: [] } }), 'a\nb')
  const createFailedResult = (...content: object[]) =>
    [{ role: 'tool', results: [{ callId: 'c1', content, isError: true }] }] as Turn[]
  assert.is(getOutput(createFailedResult(text('a'))), 'Error: a')
  assert.equal(getOutput(createFailedResult(text('a'), image)), [{ type: 'input_text', text: 'Error: ' }, ...parts])
  const free = [{ role: 'tool', results: [{ callId: 'c1', content: [text('a')], isFreeForm: true }] }] as Turn[]
  assert.equal(getItems(...free), [{ type: 'custom_tool_call_output', call_id: 'c1', output: 'a' }])
})

test("a Responses request supports each file source, but not another vendor's file IDs", () => {
  const user = (part: object) => [{ role: 'user', content: [part] }] as Turn[]
  const getPart = (part: object) => {
    const [item] = write({ turns: user(part) }).body.input as { content: unknown[] }[]
    return item?.content[0]
  }
  const base64 = { type: 'base64', mediaType: 'application/pdf', data: 'JVBERi0=' }
  const file_data = 'data:application/pdf;base64,JVBERi0='
  assert.equal(getPart({ type: 'file', source: base64, name: 'a.pdf' }), {
    type: 'input_file',
    file_data,
    filename: 'a.pdf',
  })
  assert.equal(getPart({ type: 'file', source: base64 }), { type: 'input_file', file_data, filename: 'file.pdf' })
  const getFileName = (name: string) => Object(getPart({ type: 'file', source: base64, name })).filename
  assert.equal(['Q3 v1.2', 'b.docx', ''].map(getFileName), ['Q3 v1.2.pdf', 'b.docx', 'file.pdf'])
  assert.equal(getPart({ type: 'file', source: { type: 'url', url: 'https://a' } }), {
    type: 'input_file',
    file_url: 'https://a',
  })
  assert.equal(getPart({ type: 'file', source: { type: 'text', mediaType: 'text/plain', text: 't' } }), {
    type: 'input_text',
    text: 't',
  })
  const id = { type: 'file-id', id: 'file_1', format: 'openai-chat' }
  assert.equal(getPart({ type: 'file', source: id }), { type: 'input_file', file_id: 'file_1' })
  assert.equal(getPart({ type: 'image', source: id, detail: 'low' }), {
    type: 'input_image',
    detail: 'low',
    file_id: 'file_1',
  })
  assert.throws(() => getPart({ type: 'file', source: { ...id, format: 'gemini' } }), /another vendor/)
  assert.equal(getPart({ type: 'audio', source: { type: 'base64', mediaType: 'audio/wav', data: 'AAAA' } }), {
    type: 'input_audio',
    input_audio: { data: 'AAAA', format: 'wav' },
  })
})
