import { finishOf } from '../../src/formats/gemini/finish-reason.ts'
import { finishReasonOf as ofChat } from '../../src/formats/openai-chat/finish-reason.ts'
import { finishReasonOf as ofResponse } from '../../src/formats/openai-responses/stop-reason.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('reasons of an end that nobody knows')

for (const reason of ['something_new', 'constructor', '__proto__', 'toString']) {
  test(`"${reason}" is a plain end, or a cut response`, () => {
    assert.is(ofChat(reason), 'stop')
    assert.equal(finishOf(reason), { reason: 'stop' })
    assert.is(ofResponse({ status: 'incomplete', incomplete_details: { reason } }), 'length')
  })
}
