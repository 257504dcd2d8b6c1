import { type ClosedSchema, parseInput } from '../../src/admin/input.ts'
import { createInputSchema } from '../../src/admin/schemas.ts'
import { isGatewayError } from '../../src/errors.ts'
import { createJsonSchemaConverter } from '../../src/lib/json-schema.ts'
import { type InputOf, type RecordFields, removable, requiredToCreate } from '../../src/types/records/record-fields.ts'
import {
  choice,
  integer,
  list,
  map,
  name,
  number,
  object,
  storedId,
  text,
  time,
} from '../../src/types/records/shapes.ts'
import { kinds } from '../../src/types/unions.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('record fields')

const counts = object({
  minute: { shape: integer(1, 1_000), isOptional: true },
  day: { shape: integer(1, 1_000_000), isOptional: true },
})

/** Fields of every type that records can have. */
const fields = {
  id: { shape: storedId, isStorageKey: true },
  name: { shape: name(20), inputs: requiredToCreate },
  expiresAt: { shape: time, isOptional: true, signatureVersion: 2, inputs: removable },
  kinds: { shape: list(choice(kinds), { items: 'models', max: 2 }), isOptional: true, inputs: removable },
  limits: {
    shape: object({
      requests: { shape: counts, isOptional: true },
      usd: { shape: number, isOptional: true },
    }),
    isOptional: true,
    inputs: removable,
  },
  notes: {
    shape: map({ name: text({ isNonEmpty: true, max: 5 }), of: text({ max: 9 }), max: 2 }),
    isOptional: true,
    inputs: removable,
  },
} as const satisfies RecordFields

const sample: InputOf<typeof fields, 'create'> = {
  name: 'a',
  expiresAt: '2027-01-01T00:00:00.000Z',
  kinds: ['llm', 'tts'],
  limits: { requests: { minute: 5 }, usd: 1.5 },
  notes: { team: 'ml' },
}

function getError(schema: ClosedSchema<unknown>, input: unknown): string {
  try {
    parseInput(schema, input)
    return 'accepted'
  } catch (error) {
    return isGatewayError(error) ? error.message : String(error)
  }
}

test('validates nested objects, lists, numbers, times, and maps', () => {
  const create = createInputSchema(fields, 'create')
  assert.equal(parseInput(create, sample), sample)
  const cases: [object, string][] = [
    [{ name: 'a', expiresAt: 'soon' }, '"expiresAt" must be an ISO 8601 date'],
    [{ name: 'a', kinds: ['llm', 'odd'] }, `"kinds[1]" must be one of ${kinds.map((kind) => `"${kind}"`).join(', ')}`],
    [{ name: 'a', kinds: ['conditional'] }, `"kinds[0]" must be one of ${kinds.map((kind) => `"${kind}"`).join(', ')}`],
    [{ name: 'a', kinds: ['llm', 'llm', 'llm'] }, '"kinds" must not contain more than 2 models'],
    [
      { name: 'a', limits: { requests: { minute: 0 } } },
      '"limits.requests.minute" must be a whole number from 1 to 1000',
    ],
    [{ name: 'a', limits: { usd: 'much' } }, '"limits.usd" must be a number'],
    [{ name: 'a', limits: [] }, '"limits" must be an object'],
    [{ name: 'a', limits: { requests: { hour: 5 } } }, 'Unknown field "limits.requests.hour". Known: "minute", "day".'],
    [{ name: 'a', notes: ['ml'] }, '"notes" must be an object'],
    [{ name: 'a', notes: { team: 5 } }, '"notes.team" must be a string'],
    [{ name: 'a', notes: { team: '0123456789' } }, '"notes.team" must not be longer than 9 characters'],
    [
      { name: 'a', notes: { longer: '' } },
      '"notes" has an invalid field name: each must not be longer than 5 characters',
    ],
    [{ name: 'a', notes: { '': '' } }, '"notes" has an invalid field name: each must not be blank'],
    [{ name: 'a', notes: { a: '', b: '', c: '' } }, '"notes" must not have more than 2 fields'],
    [{ name: 'a', notes: null }, '"notes" must be an object'],
  ]
  for (const [input, message] of cases) assert.is(getError(create, input), message)
  const update = createInputSchema(fields, 'update')
  const none = { expiresAt: null, kinds: null, limits: null, notes: null }
  assert.equal(parseInput(update, none), none)
})

test('converts record fields to JSON Schema', () => {
  const { convert } = createJsonSchemaConverter(new Map(), '')
  const { properties } = convert(createInputSchema(fields, 'update'))
  const { notes, limits } = Object(properties)
  assert.equal(notes, {
    type: ['object', 'null'],
    propertyNames: { type: 'string', minLength: 1, maxLength: 5 },
    additionalProperties: { type: 'string', maxLength: 9 },
    maxProperties: 2,
  })
  assert.equal(limits.properties.requests.properties.minute, { type: 'integer', minimum: 1, maximum: 1_000 })
})
