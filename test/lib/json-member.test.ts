import { removeMember } from '../../src/lib/json-edit.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('removing a field from JSON text')

/** JSON text, and the same text without its field `x`. */
const table: Record<string, [given: string, expected: string]> = {
  'the first of several fields': ['{"x":{"a":[1,"}"]},"b": 2}', '{"b": 2}'],
  'the last of several fields': ['{"b": 2 , "x" : {"a":1} }', '{"b": 2 }'],
  'a field between other fields': ['{"a":1, "x": null , "b":2}', '{"a":1, "b":2}'],
  'the only field': ['{ "x": "y" }', '{  }'],
  'all fields with the same name': ['{"x":1,"a":2,"x":3,"x":4}', '{"a":2}'],
  'a field with an escaped name': ['{"a":1,"\\u0078":2}', '{"a":1}'],
  'no nested fields': ['{"a":{"x":1},"b":"\\"x\\":1"}', '{"a":{"x":1},"b":"\\"x\\":1"}'],
}

for (const [name, [input, expected]] of Object.entries(table)) {
  test(`removing a field from JSON text removes ${name}`, () => {
    assert.is(removeMember(input, 'x'), expected)
    const { x: _, ...rest } = JSON.parse(input)
    assert.equal(JSON.parse(removeMember(input, 'x')), rest)
  })
}
