import { parseArguments, stringifyArguments } from '../../../src/protocols/formats/canonical/canonical-arguments.ts'
import { readFields } from '../../../src/protocols/formats/canonical/canonical-fields.ts'
import { createWarnings } from '../../../src/protocols/formats/canonical/canonical-warnings.ts'
import { parseExactly, parseExactObject, parseOpaque } from '../../../src/protocols/formats/canonical/exact-json.ts'
import { assert, suite } from '../../support/suite.ts'

const test = suite('numbers with more digits than JavaScript keeps')

/** The result for a number in a body, and for the same number in an opaque value. */
const numbers: Record<string, [body: string, opaque: string]> = {
  '9007199254740993': ['9007199254740993', '9007199254740993'],
  '-12345678901234567890': ['-12345678901234567890', '-12345678901234567890'],
  '1e400': ['1e400', '1e400'],
  '9007199254740992': ['9007199254740992', '9007199254740992'],
  '1700000000000000': ['1700000000000000', '1700000000000000'],
  '0.30000000000000004': ['0.30000000000000004', '0.30000000000000004'],
  '-1.1920928955078125e-07': ['-1.1920928955078125e-7', '-1.1920928955078125e-7'],
  '1.5000000000000000': ['1.5', '1.5'],
  '0.1234567890123456789': ['0.12345678901234568', '0.1234567890123456789'],
  '100000000000000000000000': ['1e+23', '1e+23'],
}

test('long integers keep all digits, and so do long fractions in opaque values', () => {
  for (const [source, [body, opaque]] of Object.entries(numbers)) {
    for (const text of [`{"a":${source}}`, `{"a":[${source}]}`, `[{"b":"x"},\n${source}]`]) {
      assert.is(
        JSON.stringify(parseExactly(text)),
        JSON.stringify(JSON.parse(text.replace(source, '0'))).replace('0', body),
      )
      assert.is(
        JSON.stringify(parseOpaque(text)),
        JSON.stringify(JSON.parse(text.replace(source, '0'))).replace('0', opaque),
      )
    }
  }
  assert.is(parseExactly('{"a":12345678901234567890'), undefined)
})

test('long numbers in arguments keep all digits, as numbers and in strings', () => {
  const text = '{"id":9007199254740993,"text":"9007199254740993","list":[12345678901234567890.5]}'
  assert.is(stringifyArguments(parseArguments(text)), text)
})

test("JSON without long numbers isn't parsed again", () => {
  const parsed = { a: 1 }
  assert.is(parseExactObject('{"a":1}', parsed), parsed)
})

test('a long number in an option is rounded, with a warning', () => {
  const warnings = createWarnings({ isStrict: false })
  const fields = readFields(parseExactObject('{"seed":9007199254740993}', {}), '', warnings)
  assert.is(fields.number('seed'), 9_007_199_254_740_992)
  assert.equal(warnings.list(), ['clamped:seed'])
})
