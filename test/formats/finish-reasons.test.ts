import { parseFinish as ofGemini } from '../../src/protocols/formats/gemini/gemini-fields.ts'
import { parseFinish as ofChat } from '../../src/protocols/formats/openai-chat/chat-fields.ts'
import { parseFinish as ofResponse } from '../../src/protocols/formats/openai-responses/responses-fields.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('unknown finish reasons')

for (const reason of ['something_new', 'constructor', '__proto__', 'toString']) {
  test(`the unknown reason "${reason}" means a normal end unless the response is incomplete`, () => {
    assert.equal(ofChat(reason), { reason: 'stop', raw: reason })
    assert.equal(ofGemini(reason), { reason: 'stop', raw: reason })
    const cut = { status: 'incomplete', incomplete_details: { reason } }
    assert.equal(ofResponse(cut), { reason: 'length', raw: reason })
  })
}
