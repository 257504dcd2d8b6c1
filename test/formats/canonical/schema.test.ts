import type { JsonObject } from '../../../src/lib/json.ts'
import { flattenSchema } from '../../../src/protocols/formats/canonical/canonical-schema.ts'
import { assert, suite } from '../../support/suite.ts'

const test = suite('tool schemas without alternatives at the root')

const text = { type: 'string' }
const id = { properties: { id: text }, required: ['id'] }
const path = { properties: { path: text }, required: ['path'] }
const object = (properties: JsonObject, extra: JsonObject = {}) => ({ type: 'object', properties, ...extra })

const cases: Record<string, [given: JsonObject, expected: JsonObject, looser?: 'looser']> = {
  'one of two objects': [
    { description: 'Where.', oneOf: [object({ id: text }, { required: ['id'] }), path] },
    { description: 'Where.', ...object({ id: text, path: text }) },
    'looser',
  ],
  'alternatives with different required properties': [
    object(
      { id: text, path: text, deep: text },
      {
        required: ['deep'],
        anyOf: [{ required: ['id'] }, { required: ['path'] }],
      },
    ),
    object({ id: text, path: text, deep: text }, { required: ['deep'] }),
    'looser',
  ],
  'properties that all alternatives require': [
    { anyOf: [object({ a: text, b: text }, { required: ['a', 'b'] }), object({ a: text }, { required: ['a'] })] },
    object({ a: text, b: text }, { required: ['a'] }),
    'looser',
  ],
  'a constant that distinguishes the alternatives': [
    {
      type: 'object',
      oneOf: [
        { properties: { do: { const: 'make', type: 'string' }, name: text }, required: ['do', 'name'] },
        { properties: { do: { enum: ['drop', 'move'], type: 'string' } }, required: ['do'] },
      ],
    },
    object({ do: { type: 'string', enum: ['make', 'drop', 'move'] }, name: text }, { required: ['do'] }),
    'looser',
  ],
  'a property with several types': [
    { anyOf: [object({ a: text }), object({ a: { type: 'number' } }), object({ a: text })] },
    object({ a: { anyOf: [text, { type: 'number' }] } }),
    'looser',
  ],
  'an object or null': [{ anyOf: [{ type: 'object', ...id }, { type: 'null' }] }, { type: 'object', ...id }],
  'parts of one object': [
    { allOf: [id, { ...path, additionalProperties: false }], properties: { id: { description: 'Its id.' } } },
    object(
      { id: { description: 'Its id.', type: 'string' }, path: text },
      { required: ['id', 'path'], additionalProperties: false },
    ),
  ],
  'contradictory parts': [
    { allOf: [object({ a: { maxLength: 3 } }), object({ a: { maxLength: 5 } })] },
    object({ a: { allOf: [{ maxLength: 3 }, { maxLength: 5 }] } }),
  ],
  'a reference': [
    { $ref: '#/$defs/a~1b', $defs: { 'a/b': object({ id: text, child: { $ref: '#/$defs/a~1b' } }) } },
    {
      $defs: { 'a/b': object({ id: text, child: { $ref: '#/$defs/a~1b' } }) },
      ...object({ id: text, child: { $ref: '#/$defs/a~1b' } }),
    },
  ],
  'alternatives within alternatives': [
    { anyOf: [{ oneOf: [id, path] }, { $ref: '#/definitions/c' }], definitions: { c: object({ c: text }) } },
    { definitions: { c: object({ c: text }) }, ...object({ id: text, path: text, c: text }) },
    'looser',
  ],
  'closed alternatives': [
    {
      anyOf: [
        { ...id, additionalProperties: false },
        { ...path, additionalProperties: false },
      ],
    },
    object({ id: text, path: text }, { additionalProperties: false }),
    'looser',
  ],
  'a forbidden schema': [
    object({ id: text, path: text }, { not: { required: ['id', 'path'] } }),
    object({ id: text, path: text }),
    'looser',
  ],
}

for (const [name, [input, expected, looser]] of Object.entries(cases))
  test(`the schema becomes a single object: ${name}`, () => {
    const before = JSON.stringify(input)
    assert.equal(flattenSchema(input), { schema: expected, isBroader: looser !== undefined })
    assert.is(JSON.stringify(input), before)
  })

const unchanged: Record<string, JsonObject> = {
  'an object': object({ a: { anyOf: [text, { type: 'null' }] } }),
  nothing: {},
  'a schema that is not an object': { anyOf: [text, { type: 'number' }] },
  'an unknown reference': { $ref: '#/$defs/gone' },
  'an external reference': { $ref: 'https://schemas.test/tool.json' },
  'a reference to itself': { $ref: '#' },
  'circular references': { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } },
  'alternatives that contain themselves': { anyOf: [{ $ref: '#' }] },
  'invalid values': { anyOf: 'x', allOf: [1, null], $ref: 7 },
}

for (const [name, input] of Object.entries(unchanged))
  test(`the schema conversion leaves ${name} unchanged`, () => assert.is(flattenSchema(input), undefined))

test("a schema's properties can have the names of built-in object properties", () => {
  const { schema } =
    flattenSchema({ allOf: [JSON.parse('{"properties":{"__proto__":{"type":"string"},"toString":{}}}')] }) ?? {}
  assert.is(JSON.stringify(schema?.properties), '{"__proto__":{"type":"string"},"toString":{}}')
})

test('a schema with many mutual references is converted within a second', () => {
  const many = { anyOf: Array(10).fill({ $ref: '#/$defs/a' }) }
  const startedAt = process.cpuUsage().user
  flattenSchema({ ...many, $defs: { a: { ...many, ...id } } })
  assert.ok(process.cpuUsage().user - startedAt < 1_000_000)
})
