import fc from 'fast-check'
import type { JsonObject } from '../../../src/lib/json.ts'
import { toJsonSchema } from '../../../src/protocols/formats/gemini/client/gemini-client-schema.ts'
import { toOpenApiSchema } from '../../../src/protocols/formats/gemini/provider/gemini-provider-schema.ts'
import { assert, suite } from '../../support/suite.ts'

function write(schema: JsonObject) {
  const losses: string[] = []
  return { schema: toOpenApiSchema(schema, (path) => losses.push(path)), losses }
}

const writing = suite("JSON Schema in Google's older schema language")

const table: Record<string, [schema: JsonObject, expected: JsonObject, losses?: string[]]> = {
  'an object without required names that have no property': [
    {
      ...{ $schema: 'x', $id: 'y', type: 'object', title: 't', description: 'd', additionalProperties: false },
      ...{ properties: { a: { type: 'string' }, b: { type: 'integer', default: 1 } }, required: ['a', 'z'] },
    },
    {
      ...{ type: 'OBJECT', title: 't', description: 'd', required: ['a'] },
      properties: { a: { type: 'STRING' }, b: { type: 'INTEGER', default: 1 } },
    },
  ],
  'a nullable type': [{ type: ['string', 'null'] }, { type: 'STRING', nullable: true }],
  'several types': [
    { type: ['string', 'number', 'null'], description: 'd' },
    { anyOf: [{ type: 'STRING' }, { type: 'NUMBER' }], nullable: true, description: 'd' },
  ],
  'a null alternative': [
    { anyOf: [{ type: 'string', minLength: 1 }, { type: 'null' }], description: 'd' },
    { type: 'STRING', minLength: 1, nullable: true, description: 'd' },
  ],
  oneOf: [
    { oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'number' } }] },
    { anyOf: [{ type: 'STRING' }, { type: 'ARRAY', items: { type: 'NUMBER' } }] },
  ],
  'a string enum': [{ enum: ['a', 'b', null] }, { type: 'STRING', format: 'enum', enum: ['a', 'b'], nullable: true }],
  'a number enum converted to strings': [
    { type: 'integer', enum: [1, 2] },
    { type: 'STRING', format: 'enum', enum: ['1', '2'] },
    ['enum'],
  ],
  'a string constant': [{ const: 'a' }, { type: 'STRING', format: 'enum', enum: ['a'] }],
  'a constant that is not a string': [{ type: 'boolean', const: true }, { type: 'BOOLEAN' }, ['const']],
  'exclusive integer limits': [
    { type: 'integer', exclusiveMinimum: 0, exclusiveMaximum: 10, minimum: -5 },
    { type: 'INTEGER', minimum: 1, maximum: 9 },
  ],
  'exclusive limits of other numbers': [
    { type: 'number', exclusiveMinimum: 0, maximum: 3 },
    { type: 'NUMBER', minimum: 0, maximum: 3 },
    ['exclusiveMinimum'],
  ],
  'exclusive limits as in OpenAPI': [
    { type: 'integer', minimum: 0, exclusiveMinimum: true },
    { type: 'INTEGER', minimum: 1 },
  ],
  'supported and unsupported formats': [
    { properties: { a: { type: 'string', format: 'date-time' }, b: { type: 'string', format: 'uri' } } },
    { type: 'OBJECT', properties: { a: { type: 'STRING', format: 'date-time' }, b: { type: 'STRING' } } },
    ['properties.b.format'],
  ],
  'unsupported keywords, by path': [
    {
      type: 'object',
      propertyNames: { pattern: 'a' },
      additionalProperties: { type: 'string' },
      properties: { a: { type: 'array', uniqueItems: true, items: { type: 'number', multipleOf: 2 } } },
    },
    { type: 'OBJECT', properties: { a: { type: 'ARRAY', items: { type: 'NUMBER' } } } },
    ['properties.a.items.multipleOf', 'properties.a.uniqueItems', 'propertyNames', 'additionalProperties'],
  ],
  'a tuple': [
    { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], minItems: 2 },
    { type: 'ARRAY', items: { anyOf: [{ type: 'STRING' }, { type: 'NUMBER' }] }, minItems: 2 },
    ['prefixItems'],
  ],
  'an array of any values': [{ type: 'array' }, { type: 'ARRAY', items: {} }],
  references: [
    {
      ...{ type: 'object', properties: { a: { $ref: '#/$defs/A', description: 'd' }, b: { $ref: '#/$defs/A' } } },
      $defs: { A: { type: 'string', minLength: 2 } },
    },
    {
      type: 'OBJECT',
      properties: { a: { type: 'STRING', minLength: 2, description: 'd' }, b: { type: 'STRING', minLength: 2 } },
    },
  ],
  'a reference in allOf': [
    {
      properties: { a: { allOf: [{ $ref: '#/definitions/A' }], default: 'x' } },
      definitions: { A: { type: 'string' } },
    },
    { type: 'OBJECT', properties: { a: { type: 'STRING', default: 'x' } } },
  ],
  'compatible constraints': [
    {
      allOf: [
        { properties: { a: { type: 'string' } }, required: ['a'] },
        { properties: { b: {} }, required: ['b'] },
      ],
    },
    { type: 'OBJECT', properties: { a: { type: 'STRING' }, b: {} }, required: ['a', 'b'] },
  ],
  'conflicting constraints': [{ allOf: [{ type: 'string' }, { type: 'number' }] }, { type: 'STRING' }, ['allOf']],
  'a recursive schema': [
    {
      $ref: '#/$defs/Node',
      $defs: { Node: { type: 'object', properties: { next: { $ref: '#/$defs/Node' }, id: { type: 'string' } } } },
    },
    { type: 'OBJECT', properties: { next: { type: 'OBJECT' }, id: { type: 'STRING' } } },
    ['properties.next.$ref'],
  ],
  'any value': [{ properties: { a: true } }, { type: 'OBJECT', properties: { a: {} } }],
}

for (const [name, [schema, expected, losses = []]] of Object.entries(table)) {
  writing(`writes ${name}`, () => {
    const written = write(schema)
    assert.equal(written.schema, expected)
    assert.equal(written.losses, losses)
  })
}

writing('a schema stays small if its definitions use each other twice', () => {
  const $defs: Record<string, JsonObject> = { d0: { type: 'string' } }
  for (let level = 1; level < 40; level++) {
    const $ref = `#/$defs/d${level - 1}`
    $defs[`d${level}`] = { type: 'object', properties: { a: { $ref }, b: { $ref } } }
  }
  const { schema, losses } = write({ $ref: '#/$defs/d39', $defs })
  assert.ok(JSON.stringify(schema).length < 1_000_000)
  assert.ok(losses.length > 0)
})

const KEYWORDS =
  /^(?:type|format|title|description|nullable|default|items|minItems|maxItems|enum|properties|required|minProperties|maxProperties|minimum|maximum|minLength|maxLength|pattern|example|anyOf)$/

function getKeywords(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  return Object.entries(schema).flatMap(([name, value]) => {
    if (name === 'properties') return ['properties', ...Object.values(Object(value)).flatMap(getKeywords)]
    if (name === 'items') return ['items', ...getKeywords(value)]
    return name === 'anyOf' ? ['anyOf', ...Object.values(Object(value)).flatMap(getKeywords)] : [name]
  })
}

writing('a written schema never has a keyword that Google rejects', () => {
  const { schema } = fc.letrec((tie) => ({
    schema: fc.oneof(
      { maxDepth: 4 },
      fc.record(
        {
          type: fc.constantFrom('string', 'integer', 'number', 'boolean', ['string', 'null'], ['integer', 'string']),
          enum: fc.array(fc.oneof(fc.string(), fc.integer(), fc.constant(null)), { minLength: 1 }),
          const: fc.oneof(fc.string(), fc.boolean()),
          exclusiveMinimum: fc.oneof(fc.integer(), fc.boolean()),
          format: fc.string(),
          minLength: fc.nat(),
          not: fc.constant({}),
          $ref: fc.constantFrom('#', '#/properties/a', '#/nowhere'),
        },
        { requiredKeys: [] },
      ),
      fc.record({
        type: fc.constant('object'),
        properties: fc.dictionary(fc.constantFrom('a', 'b', '__proto__'), tie('schema')),
        patternProperties: fc.constant({}),
      }),
      fc.record({ type: fc.constant('array'), items: tie('schema'), uniqueItems: fc.boolean() }),
      fc.record({ anyOf: fc.array(tie('schema')) }),
      fc.record({ allOf: fc.array(tie('schema')) }),
    ),
  }))
  fc.assert(
    fc.property(schema, (input) => {
      for (const keyword of getKeywords(write(Object(input)).schema)) assert.match(keyword, KEYWORDS)
    }),
    { numRuns: 300 },
  )
})

const reading = suite("Google's older schemas as JSON Schema")

for (const [name, schema, expected] of [
  [
    'uppercase types',
    { type: 'OBJECT', properties: { TYPE: { type: 'STRING' } } },
    { type: 'object', properties: { TYPE: { type: 'string' } } },
  ],
  [
    'numeric types',
    { type: 6, properties: { a: { type: 1 } } },
    { type: 'object', properties: { a: { type: 'string' } } },
  ],
  [
    'a nullable value',
    { type: 'STRING', nullable: true, enum: ['a'] },
    { type: ['string', 'null'], enum: ['a', null] },
  ],
  [
    'nullable alternatives',
    { any_of: [{ type: 'STRING' }], nullable: true },
    { anyOf: [{ type: 'string' }, { type: 'null' }] },
  ],
  [
    'counts given as strings',
    { type: 'ARRAY', min_items: '1', items: { type: 'STRING', maxLength: '9' } },
    { type: 'array', minItems: 1, items: { type: 'string', maxLength: 9 } },
  ],
  [
    'Google-specific keywords',
    { type: 'STRING', format: 'enum', enum: ['a'], example: 'a', propertyOrdering: [] },
    { type: 'string', enum: ['a'], examples: ['a'] },
  ],
  [
    'JSON Schema in the same field',
    { type: 'object', $defs: { A: { type: 'string' } }, properties: { a: { $ref: '#/$defs/A' } } },
    { type: 'object', $defs: { A: { type: 'string' } }, properties: { a: { $ref: '#/$defs/A' } } },
  ],
] as [string, JsonObject, JsonObject][])
  reading(`parses ${name}`, () => assert.equal(toJsonSchema(schema), expected))
