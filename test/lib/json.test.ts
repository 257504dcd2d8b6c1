import fc from 'fast-check'
import { escapeJson } from '../../src/lib/json.ts'
import { anyText } from '../support/any-string.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('JSON strings')

test('escapeJson escapes every character like JSON.stringify', () => {
  for (let code = 0; code <= 0xffff; code++) {
    const text = `a${String.fromCharCode(code)}b`
    if (`"${escapeJson(text)}"` !== JSON.stringify(text)) assert.is(`"${escapeJson(text)}"`, JSON.stringify(text))
  }
})

test('escapeJson escapes strings of any characters and lengths like JSON.stringify', () => {
  const text = fc.oneof(anyText(), fc.string({ minLength: 190, maxLength: 210 }))
  fc.assert(fc.property(text, (any) => assert.is(`"${escapeJson(any)}"`, JSON.stringify(any))))
})
