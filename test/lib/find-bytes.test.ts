import { createFinder } from '../../src/lib/bytes.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('finding strings in bytes')
const encode = (text: string) => new TextEncoder().encode(text)

test('strings are found anywhere in the bytes, but only complete ones', () => {
  for (const needle of ['sk-ABC-123', 'aaaaaaab', 'baaaaaaa', 'ZZZZZZZZ', '        ', 'ключ-ключ', '""""""""']) {
    const isIn = createFinder(['not-there', needle])
    for (const before of ['', 'x', needle.slice(0, 3), needle.slice(0, -1), 'Z'.repeat(9)])
      for (const after of ['', 'x', needle.slice(1)]) assert.is(isIn(encode(before + needle + after)), true, before)
    assert.is(isIn(encode(needle.slice(1))), false, needle)
    assert.is(isIn(encode(`${needle.slice(0, -1)}?${needle.slice(1)}`)), false, needle)
    assert.is(isIn(encode('')), false)
  }
  assert.is(createFinder([])(encode('anything')), false)
})
