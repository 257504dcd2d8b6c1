import { fromBase64, toBase64 } from '../../src/lib/bytes.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('base64')

for (const length of [0, 1, 2, 3, 24_575, 24_576, 24_577, 49_152, 100_001]) {
  test(`${length} bytes are encoded as one base64 string, and decoded to the same bytes`, () => {
    const bytes = Uint8Array.from({ length }, (_, index) => index * 7)
    const text = toBase64(bytes)
    assert.match(text, /^[A-Za-z0-9+/]*={0,2}$/)
    assert.is(text.length, Math.ceil(length / 3) * 4)
    assert.equal(fromBase64(text), bytes)
  })
}
