import { withoutMember } from '../../src/lib/json-scan.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('removing a field from JSON text')

/** A text, and the same without its member `x`. */
const table: Record<string, [given: string, expected: string]> = {
  'the first of several': ['{"x":{"a":[1,"}"]},"b": 2}', '{"b": 2}'],
  'the last of several': ['{"b": 2 , "x" : {"a":1} }', '{"b": 2 }'],
  'one between others': ['{"a":1, "x": null , "b":2}', '{"a":1, "b":2}'],
  'the only one': ['{ "x": "y" }', '{  }'],
  'all of the same name': ['{"x":1,"a":2,"x":3,"x":4}', '{"a":2}'],
  'one whose name is escaped': ['{"a":1,"\\u0078":2}', '{"a":1}'],
  'none within other members': ['{"a":{"x":1},"b":"\\"x\\":1"}', '{"a":{"x":1},"b":"\\"x\\":1"}'],
}

for (const [name, [given, expected]] of Object.entries(table)) {
  test(`removing a field from JSON text removes ${name}`, () => {
    assert.is(withoutMember(given, 'x'), expected)
    const { x: _, ...rest } = JSON.parse(given)
    assert.equal(JSON.parse(withoutMember(given, 'x')), rest)
  })
}
