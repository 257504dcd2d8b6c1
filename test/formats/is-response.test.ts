import { loadResponseReader } from '../../src/protocols/formats/format.ts'
import { loadUpstreamFormat } from '../../src/protocols/formats/formats.ts'
import { operations } from '../../src/protocols/formats/model-operations.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('recognizing complete responses')

const responses = {
  'openai-chat': [{ choices: [{}] }],
  'openai-responses': [{ output: [{}] }, { output: [], status: 'incomplete' }],
  'anthropic-messages': [{ content: [{}] }, { content: [], stop_reason: 'end_turn' }],
  gemini: [{ candidates: [{}] }, { promptFeedback: { blockReason: 'SAFETY' } }],
  'bedrock-converse': [{ output: {} }, { stopReason: 'end_turn' }],
} as const

const empty = [
  {},
  { id: 'x', usage: {} },
  { choices: [], output: [], content: [], candidates: [] },
  { choices: null, output: null, content: null, candidates: null, promptFeedback: null, stopReason: null },
]

for (const name of ['openai-chat', 'openai-responses', 'anthropic-messages', 'gemini', 'bedrock-converse'] as const) {
  test(`recognizes responses but no other bodies (${name})`, async () => {
    const format = await loadUpstreamFormat(name)
    const { isResponse } = await loadResponseReader(format, operations.generate)
    for (const response of responses[name]) assert.is(isResponse(response), true, JSON.stringify(response))
    for (const response of empty) assert.is(isResponse(response), false, JSON.stringify(response))
  })
}
