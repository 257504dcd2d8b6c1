import fc from 'fast-check'
import { quoted } from '../../src/lib/json.ts'
import { anyText } from '../support/any-text.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('json texts')

test('json texts are quoted as JSON.stringify has it, character by character', () => {
  for (let code = 0; code <= 0xffff; code++) {
    const text = `a${String.fromCharCode(code)}b`
    if (quoted(text) !== JSON.stringify(text)) assert.is(quoted(text), JSON.stringify(text))
  }
})

test('texts of any characters are quoted as JSON.stringify has it', () => {
  const text = fc.oneof(anyText(), fc.string({ minLength: 190, maxLength: 210 }))
  fc.assert(fc.property(text, (any) => assert.is(quoted(any), JSON.stringify(any))))
})
