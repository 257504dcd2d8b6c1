import { assert, suite } from '../support/suite.ts'
import { openManagement, openManagementWith } from './open-management.ts'
import { connectionStrategies, listNames, strategies } from './strategy-names.ts'

const test = suite('combo conditions and options')

const PATTERN = 'must be a string, an array of strings, true, or false'
const TEXTS = 'must be a string or an array of strings'
const SIZE = 'must be a whole number of bytes'
const LIMIT = '"stickyLimit" must be a whole number from 1 to 1000'
const HEADER = 'is not a header name'
const many = Array.from({ length: 101 }, String)

const conditions: Array<[when: unknown, error: string]> = [
  [null, '"models[1].when" must be an object'],
  ['tools', '"models[1].when" must be an object'],
  [[], '"models[1].when" must be an object'],
  [{}, '"models[1].when" must contain a condition; omit it for an entry that applies to all requests'],
  [{ tool: true }, 'Unknown field "models[1].when.tool". Did you mean "tools"?'],
  [{ tools: 'yes' }, '"models[1].when.tools" must be true or false'],
  [{ images: 1 }, '"models[1].when.images" must be true or false'],
  [{ stream: null }, '"models[1].when.stream" must be true or false'],
  [{ model: true }, `"models[1].when.model" ${TEXTS}`],
  [{ model: [] }, '"models[1].when.model" must contain at least one string'],
  [{ model: '' }, '"models[1].when.model" must not be empty'],
  [{ model: ['a', 5] }, '"models[1].when.model[1]" must be a string'],
  [{ model: many }, '"models[1].when.model" must not contain more than 100 strings'],
  [{ bytes: 5 }, '"models[1].when.bytes" must be an object'],
  [{ bytes: {} }, '"models[1].when.bytes" must have "min", "max", or both'],
  [{ bytes: { min: '1' } }, `"models[1].when.bytes.min" ${SIZE}`],
  [{ bytes: { min: -1 } }, `"models[1].when.bytes.min" ${SIZE}`],
  [{ bytes: { max: 1.5 } }, `"models[1].when.bytes.max" ${SIZE}`],
  [{ bytes: { min: 2, max: 1 } }, '"models[1].when.bytes" must have a "min" no greater than its "max"'],
  [{ bytes: { minimum: 1 } }, 'Unknown field "models[1].when.bytes.minimum". Did you mean "min"?'],
  [{ headers: 'x-team' }, '"models[1].when.headers" must be an object whose values are patterns'],
  [{ headers: [] }, '"models[1].when.headers" must be an object whose values are patterns'],
  [{ headers: {} }, '"models[1].when.headers" must contain at least one'],
  [{ headers: { 'x-team': 5 } }, `"models[1].when.headers.x-team" ${PATTERN}`],
  [{ headers: { 'x-team': null } }, `"models[1].when.headers.x-team" ${PATTERN}`],
  [{ headers: { 'x-team': [] } }, '"models[1].when.headers.x-team" must contain at least one string'],
  [{ headers: { 'x-team': [true] } }, '"models[1].when.headers.x-team[0]" must be a string'],
  [{ headers: { 'x team': 'a' } }, `"models[1].when.headers.x team" ${HEADER}`],
  [{ headers: { '': 'a' } }, `"models[1].when.headers." ${HEADER}`],
  [{ headers: { 'x-tëam': true } }, `"models[1].when.headers.x-tëam" ${HEADER}`],
  [{ metadata: {} }, '"models[1].when.metadata" must contain at least one'],
  [{ metadata: { tier: {} } }, `"models[1].when.metadata.tier" ${PATTERN}`],
  [{ metadata: { tier: 'a\u0007' } }, '"models[1].when.metadata.tier" must not contain control characters'],
  [{ metadata: { tier: 'x'.repeat(513) } }, '"models[1].when.metadata.tier" must not be longer than 512 characters'],
]
const options: Array<[given: object, error: string]> = [
  [{ stickyLimit: 0 }, LIMIT],
  [{ stickyLimit: 1_001 }, LIMIT],
  [{ stickyLimit: 1.5 }, LIMIT],
  [{ stickyLimit: '2' }, LIMIT],
  [{ hedge: 'yes' }, '"hedge" must be true or false'],
  [{ connectionStrategy: 'weigted' }, `"connectionStrategy" must be one of ${listNames(connectionStrategies)}`],
  [
    { connectionStrategy: 'conditional' },
    '"connectionStrategy" cannot be "conditional" because connections have no conditions. Set "when" on combo entries, and choose another strategy here',
  ],
  [{ strategy: 'sometimes' }, `"strategy" must be one of ${listNames(strategies)}`],
  [{ sticky: 2 }, 'Unknown field "sticky". Did you mean "stickyLimit"?'],
  [{ models: Array(101).fill('x') }, '"models" must not contain more than 100 models'],
]
const refusals = [
  ...conditions.map(([when, error]) => [{ models: ['x', { model: 'y', when }] }, error] as const),
  ...options,
]
for (const [input, error] of refusals) {
  test(`rejects the combo fields ${JSON.stringify(input).slice(0, 80)}: ${error.slice(0, 80)}`, async () => {
    const { expectError, expect } = openManagement()
    await expectError(400, error, ['POST', '/api/combos', { name: 'a', models: ['x'], ...input }])
    assert.equal(await expect(200, 'GET', '/api/combos'), { combos: [] })
    const { id } = await expect(201, 'POST', '/api/combos', { name: 'a', models: ['x'] })
    await expectError(400, error, ['PUT', `/api/combos/${id}`, input])
  })
}

test("returns an entry's condition unchanged", async () => {
  const { expect } = await openManagementWith(['x', 'y', 'z'])
  const when = {
    model: ['fast-*', 'pool'],
    bytes: { min: 0, max: 100_000 },
    stream: true,
    tools: false,
    images: false,
    headers: { 'X-Team': ['red', 'b*'], 'x-beta': true },
    metadata: { tier: 'gold', trial: false, 'any name': '*' },
  }
  const models = [{ model: 'x', when }, { model: 'y', weight: 2, when: { tools: true } }, 'z']
  const created = await expect(201, 'POST', '/api/combos', { name: 'a', models, strategy: 'conditional' })
  assert.equal(created.models, models)
  assert.equal(await expect(200, 'GET', `/api/combos/${created.id}`), created)
  assert.equal((await expect(200, 'PUT', `/api/combos/${created.id}`, created)).models, models)
})

test("returns a combo's options unchanged, and null removes them", async () => {
  const { expect } = await openManagementWith(['x'])
  const input = { stickyLimit: 3, connectionStrategy: 'sticky', hedge: true }
  const created = await expect(201, 'POST', '/api/combos', { name: 'a', models: ['x'], ...input })
  const { id, createdAt, updatedAt, ...rest } = created
  assert.equal(rest, { name: 'a', models: ['x'], strategy: 'fallback', ...input })
  assert.equal(await expect(200, 'PUT', `/api/combos/${id}`, created), created)
  for (const [field, left] of [
    ['stickyLimit', ['connectionStrategy', 'hedge']],
    ['connectionStrategy', ['hedge']],
    ['hedge', []],
  ] as const) {
    const after = await expect(200, 'PUT', `/api/combos/${id}`, { [field]: null })
    assert.equal(
      Object.keys(after).filter((name) => name in input),
      left,
    )
    assert.equal(await expect(200, 'GET', `/api/combos/${id}`), after)
  }
})

test("rejects null for combo fields that can't be removed", async () => {
  const { expectError, expect } = openManagement()
  await expectError(400, LIMIT, ['POST', '/api/combos', { name: 'a', models: ['x'], stickyLimit: null }])
  const { id } = await expect(201, 'POST', '/api/combos', { name: 'a', models: ['x'] })
  await expectError(400, '"models" must be an array of model names', ['PUT', `/api/combos/${id}`, { models: null }])
})

test('a combo of plain model names has only the fields that were set', async () => {
  const { expect } = await openManagementWith(['x', 'y'])
  const created = await expect(201, 'POST', '/api/combos', { name: 'a', models: ['x', 'y'] })
  assert.equal(Object.keys(created), ['id', 'name', 'models', 'strategy', 'createdAt', 'updatedAt'])
  assert.equal([created.models, created.strategy], [['x', 'y'], 'fallback'])
  assert.equal(await expect(200, 'GET', `/api/combos/${created.id}`), created)
  const changed = await expect(200, 'PUT', `/api/combos/${created.id}`, { strategy: 'round-robin', kind: 'llm' })
  assert.equal(Object.keys(changed), ['id', 'name', 'kind', 'models', 'strategy', 'createdAt', 'updatedAt'])
})
