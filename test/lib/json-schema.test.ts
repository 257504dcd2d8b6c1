import { Ajv2020 } from 'ajv/dist/2020.js'
import * as v from 'valibot'
import { createJsonSchemaConverter } from '../../src/lib/json-schema.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('converting schemas to JSON Schema')

const convert = (schema: v.GenericSchema) => createJsonSchemaConverter(new Map(), '#/$defs/').convert(schema)

const cases: Record<string, [schema: v.GenericSchema, expected: object]> = {
  'a string': [v.string(), { type: 'string' }],
  'a boolean': [v.boolean(), { type: 'boolean' }],
  'a literal': [v.literal('a'), { const: 'a' }],
  'a string enum': [v.picklist(['a', 'b']), { type: 'string', enum: ['a', 'b'] }],
  anything: [v.unknown(), {}],
  'a validated string': [
    v.pipe(
      v.string(),
      v.trim(),
      v.nonEmpty(),
      v.maxLength(3),
      v.regex(/^a/),
      v.check((text) => text !== 'b'),
    ),
    { type: 'string', minLength: 1, maxLength: 3, pattern: '^a' },
  ],
  'a timestamp': [v.pipe(v.string(), v.isoTimestamp()), { type: 'string', format: 'date-time' }],
  'a bounded number': [
    v.pipe(v.number(), v.finite(), v.minValue(1), v.maxValue(9)),
    { type: 'number', minimum: 1, maximum: 9 },
  ],
  'an integer': [v.pipe(v.number(), v.integer(), v.gtValue(0)), { type: 'integer', exclusiveMinimum: 0 }],
  'an array': [
    v.pipe(v.array(v.string()), v.nonEmpty(), v.maxLength(9)),
    { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 9 },
  ],
  'a map': [
    v.record(v.string(), v.boolean()),
    { type: 'object', propertyNames: { type: 'string' }, additionalProperties: { type: 'boolean' } },
  ],
  'an open object': [
    v.object({ a: v.string(), b: v.optional(v.string()), c: v.exactOptional(v.string()) }),
    {
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'string' }, c: { type: 'string' } },
      required: ['a'],
    },
  ],
  "a closed object, without fields that can't have a value": [
    v.strictObject({ a: v.exactOptional(v.number()), b: v.exactOptional(v.never()) }),
    { type: 'object', properties: { a: { type: 'number' } }, additionalProperties: false },
  ],
  'a nullable string': [v.nullable(v.string()), { type: ['string', 'null'] }],
  'a nullable string enum': [v.nullable(v.picklist(['a'])), { type: ['string', 'null'], enum: ['a', null] }],
  'a nullable union': [
    v.nullable(v.union([v.string(), v.number()])),
    { anyOf: [{ anyOf: [{ type: 'string' }, { type: 'number' }] }, { type: 'null' }] },
  ],
  'a check that its metadata describes': [
    v.pipe(v.custom<object>(Boolean), v.metadata({ type: 'object', minProperties: 1 })),
    { type: 'object', minProperties: 1 },
  ],
  'a schema behind a check': [v.pipe(v.unknown(), v.check(Boolean), v.number()), { type: 'number' }],
}

for (const [name, [schema, expected]] of Object.entries(cases)) {
  test(`JSON Schema conversion supports ${name}`, () => {
    const converted = convert(schema)
    assert.equal(converted, expected)
    new Ajv2020({ validateFormats: false }).compile(converted)
  })
}

test('a named schema is referenced and converted once, with or without checks around it', () => {
  const name = v.pipe(v.string(), v.nonEmpty())
  const person = v.object({ name, other: v.nullable(name), names: v.array(name) })
  const converter = createJsonSchemaConverter(new Map<object, string>([[name, 'Name']]), '#/$defs/')
  const $ref = '#/$defs/Name'
  assert.equal(converter.convert(person).properties, {
    name: { $ref },
    other: { anyOf: [{ $ref }, { type: 'null' }] },
    names: { type: 'array', items: { $ref } },
  })
  assert.equal(converter.definitions, { Name: { type: 'string', minLength: 1 } })
})

test('recursive schemas are supported', () => {
  interface Tree {
    children: Tree[]
  }
  const tree: v.GenericSchema<Tree> = v.object({
    children: v.array(
      Object.assign(
        v.lazy(() => tree),
        { options: [] },
      ),
    ),
  })
  const held = v.object({ children: v.array(tree) })
  const converter = createJsonSchemaConverter(new Map<object, string>([[tree, 'Tree']]), '#/$defs/')
  converter.convert(held)
  assert.ok(converter.definitions.Tree)
})

test('an unsupported schema type is rejected by name', () => {
  for (const schema of [v.date(), v.bigint(), v.map(v.string(), v.string()), v.lazy(() => v.string())])
    assert.throws(() => convert(v.object({ a: schema as v.GenericSchema })), new RegExp(`"${schema.type}"`))
})
