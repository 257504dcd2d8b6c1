import { convertType } from '../../src/admin/http/openapi/type-text.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('result types as JSON Schema')

const convert = (text: string) => convertType(text, (name) => ({ $ref: name }))

test('types in TypeScript syntax become JSON Schema', () => {
  const text = { type: 'string' }
  assert.equal(convert('string[][]'), { type: 'array', items: { type: 'array', items: text } })
  assert.equal(convert("'a' | 'b-c' | null"), { type: ['string', 'null'], enum: ['a', 'b-c', null] })
  assert.equal(convert('Target | null'), { anyOf: [{ $ref: 'Target' }, { type: 'null' }] })
  assert.equal(convert('(string | Target)[]'), { type: 'array', items: { anyOf: [text, { $ref: 'Target' }] } })
  assert.equal(convert("{object: 'list', at?: time | null, sizes: Record<integer>, more?: object, any?: unknown}"), {
    type: 'object',
    properties: {
      object: { const: 'list' },
      at: { type: ['string', 'null'], format: 'date-time' },
      sizes: { type: 'object', propertyNames: text, additionalProperties: { type: 'integer' } },
      more: { type: 'object' },
      any: {},
    },
    required: ['object', 'sizes'],
  })
})
