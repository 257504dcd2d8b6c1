import { finishOf } from '../../src/formats/gemini/fields.ts'
import { finishReasonOf as ofChat } from '../../src/formats/openai-chat/fields.ts'
import { finishReasonOf as ofResponse } from '../../src/formats/openai-responses/fields.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('unknown finish reasons')

for (const reason of ['something_new', 'constructor', '__proto__', 'toString']) {
  test(`the unknown reason "${reason}" is a normal end, or a cut response`, () => {
    assert.is(ofChat(reason), 'stop')
    assert.equal(finishOf(reason), { reason: 'stop' })
    assert.is(ofResponse({ status: 'incomplete', incomplete_details: { reason } }), 'length')
  })
}
