import { geminiTranslator } from '../../src/protocols/formats/gemini/gemini-translator.ts'
import { chatTranslator } from '../../src/protocols/formats/openai-chat/chat-translator.ts'
import { writeOpenAIErrorBody } from '../../src/protocols/formats/openai-errors.ts'
import { assert, suite } from '../support/suite.ts'
import { contexts } from './support/contexts.ts'

const test = suite('values that are names of built-in object properties')

for (const name of ['constructor', 'toString', '__proto__']) {
  test(`"${name}" isn't an audio format`, () => {
    const { warnings } = contexts(chatTranslator)
    const content = [{ type: 'input_audio', input_audio: { format: name, data: 'AAAA' } }]
    const { turns } = chatTranslator.parseRequest({ model: 'm', messages: [{ role: 'user', content }] }, { warnings })
    const source = { type: 'base64', mediaType: `audio/${name}`, data: 'AAAA' }
    assert.equal(turns, [{ role: 'user', content: [{ type: 'audio', source }] }])
  })

  test(`"${name}" isn't a thinking level`, () => {
    const { warnings } = contexts(geminiTranslator)
    const contents = [{ role: 'user', parts: [{ text: 'q' }] }]
    const body = { contents, generationConfig: { thinkingConfig: { thinkingLevel: name } } }
    const { options } = geminiTranslator.parseRequest(body, { warnings, route: { model: 'm', stream: false } })
    assert.is(options.reasoning?.effort, undefined)
  })

  test(`"${name}" is treated as an ordinary error code`, () => {
    const { error }: { error?: { code?: string } } = writeOpenAIErrorBody({ status: 400, code: name, message: 'no' })
    assert.is(error?.code, name.toLowerCase())
  })
}
