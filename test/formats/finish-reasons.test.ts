import { finishOf as ofGemini } from '../../src/formats/gemini/fields.ts'
import { finishOf as ofChat } from '../../src/formats/openai-chat/fields.ts'
import { finishOf as ofResponse } from '../../src/formats/openai-responses/fields.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('unknown finish reasons')

for (const reason of ['something_new', 'constructor', '__proto__', 'toString']) {
  test(`the unknown reason "${reason}" is a normal end, or a cut response`, () => {
    assert.equal(ofChat(reason), { reason: 'stop', raw: reason })
    assert.equal(ofGemini(reason), { reason: 'stop', raw: reason })
    const cut = { status: 'incomplete', incomplete_details: { reason } }
    assert.equal(ofResponse(cut), { reason: 'length', raw: reason })
  })
}
