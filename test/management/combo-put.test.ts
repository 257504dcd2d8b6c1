import { memoryStorage } from '../../adapters/storage/memory.ts'
import { assert, suite } from '../support/suite.ts'
import { openManagement, openManagementWith } from './open-management.ts'
import { listNames, strategies } from './strategy-names.ts'

const test = suite('PUT /api/combos/{id}')

/** Opens a gateway with the combos `a` and `b`. */
async function openWithCombos() {
  const management = await openManagementWith(['x', 'y', 'z'])
  const a = await management.expect(201, 'POST', '/api/combos', { name: 'a', models: ['x'] })
  const b = await management.expect(201, 'POST', '/api/combos', { name: 'b', models: ['y'] })
  return { ...management, a, b }
}

const bad = 'Name can only contain letters, numbers, -, _ and .'
const taken = 'Combo name already exists'

test('PUT /api/combos/{id} changes the given fields and keeps the rest', async () => {
  const { expect, clock, a } = await openWithCombos()
  const changes = [{ name: 'c' }, { models: ['x', 'z'] }, { strategy: 'round-robin' }, { kind: 'image' }]
  let combo: object = a
  for (const change of changes) {
    await clock.advance(1_000)
    const { updatedAt, ...changed } = await expect(200, 'PUT', `/api/combos/${a.id}`, change)
    assert.is(updatedAt, new Date(clock.now()).toISOString())
    const { updatedAt: _, ...before } = { updatedAt, ...combo }
    assert.equal(changed, { ...before, ...change })
    combo = { ...changed, updatedAt }
    assert.equal(await expect(200, 'GET', `/api/combos/${a.id}`), combo)
  }
})

for (const name of ['a b', 'a/b', 'ä', ' ', 'a\n', 'a:b', '"']) {
  test(`rule 1: rejects the name ${JSON.stringify(name)}`, async () => {
    const { expectError, expect, a } = await openWithCombos()
    await expectError(400, bad, ['PUT', `/api/combos/${a.id}`, { name, models: ['z'] }])
    assert.equal(await expect(200, 'GET', `/api/combos/${a.id}`), a)
  })
}

test("rule 2: a combo can't take another combo's name, but can keep its own", async () => {
  const { expectError, expect, a, b } = await openWithCombos()
  await expectError(400, taken, ['PUT', `/api/combos/${a.id}`, { name: 'b', models: ['z'] }])
  assert.equal(await expect(200, 'GET', `/api/combos/${a.id}`), a)
  assert.equal(await expect(200, 'GET', `/api/combos/${b.id}`), b)
  assert.is((await expect(200, 'PUT', `/api/combos/${a.id}`, { name: 'a' })).name, 'a')
})

test('rule 3: an unknown id returns a 404', async () => {
  const { expectError } = await openWithCombos()
  await expectError(404, 'Combo not found', ['PUT', '/api/combos/nobody', { models: ['z'] }])
  await expectError(404, 'Combo not found', ['PUT', '/api/combos/nobody', { name: 'free' }])
  await expectError(404, 'Combo not found', ['PUT', '/api/combos/nobody', {}])
})

test('a combo update validates the body, name format, name uniqueness, and ID, in that order', async () => {
  const { expectError } = await openWithCombos()
  const unknown = 'Unknown field "strateg". Did you mean "strategy"?'
  await expectError(400, unknown, ['PUT', '/api/combos/nobody', { name: 'a b', strateg: 1 }])
  await expectError(400, '"models" must be an array of model names', [
    'PUT',
    '/api/combos/nobody',
    { name: 'a b', models: 1 },
  ])
  await expectError(400, bad, ['PUT', '/api/combos/nobody', { name: 'a b' }])
  await expectError(400, taken, ['PUT', '/api/combos/nobody', { name: 'b' }])
})

test('an empty combo name is treated as absent', async () => {
  const { expect, a } = await openWithCombos()
  const changed = await expect(200, 'PUT', `/api/combos/${a.id}`, { name: '', models: ['z'] })
  assert.is(changed.name, 'a')
  assert.equal(changed.models, ['z'])
})

const refusals: Array<[body: unknown, error: string]> = [
  [{ name: null }, '"name" must be a string'],
  [{ name: 5 }, '"name" must be a string'],
  [{ name: 'a'.repeat(513) }, '"name" must not be longer than 512 characters'],
  [{ models: ['x', ''] }, '"models[1]" must not be blank'],
  [{ strategy: 'best' }, `"strategy" must be one of ${listNames(strategies)}`],
  [
    { kind: null },
    '"kind" must be one of "llm", "image", "tts", "stt", "embedding", "imageToText", "webSearch", "webFetch", "rerank", "moderation"',
  ],
  [{ id: 'other' }, '"id" cannot be changed; omit it'],
]
for (const [body, error] of refusals) {
  test(`rejects the combo update ${JSON.stringify(body).slice(0, 40)}: ${error.slice(0, 60)}`, async () => {
    const { expectError, expect, a } = await openWithCombos()
    await expectError(400, error, ['PUT', `/api/combos/${a.id}`, body])
    assert.equal(await expect(200, 'GET', `/api/combos/${a.id}`), a)
  })
}

test('accepts a combo exactly as it was returned', async () => {
  const { expect, a } = await openWithCombos()
  const { updatedAt, ...changed } = await expect(200, 'PUT', `/api/combos/${a.id}`, { ...a, models: ['z'] })
  assert.equal(changed, { id: a.id, name: 'a', models: ['z'], strategy: 'fallback', createdAt: a.createdAt })
})

test('rejects one of two concurrent combo renames to the same name', async () => {
  const { call, expect, a, b } = await openWithCombos()
  const responses = await Promise.all([a, b].map(({ id }) => call('PUT', `/api/combos/${id}`, { name: 'c' })))
  assert.equal(responses.map(({ status }) => status).sort(), [200, 400])
  const { combos } = await expect(200, 'GET', '/api/combos')
  assert.equal(combos.map(({ id }) => id).sort(), [a.id, b.id].sort())
  assert.is(combos.filter(({ name }) => name === 'c').length, 1)
})

test('two combos can swap names through a temporary name', async () => {
  const { expect, a, b } = await openWithCombos()
  await expect(200, 'PUT', `/api/combos/${a.id}`, { name: 'spare' })
  await expect(200, 'PUT', `/api/combos/${b.id}`, { name: 'a' })
  await expect(200, 'PUT', `/api/combos/${a.id}`, { name: 'b' })
  const { combos } = await expect(200, 'GET', '/api/combos')
  assert.equal(
    combos.map(({ id, name }) => [id, name]),
    [
      [a.id, 'b'],
      [b.id, 'a'],
    ],
  )
})

test('a storage failure returns a 500, and onError receives the cause', async () => {
  const broken = new Error('disk on fire')
  const errors: unknown[] = []
  const storage = { ...memoryStorage(), list: () => Promise.reject(broken) }
  const { expectError } = openManagement({ storage, hooks: { onError: (error) => errors.push(error) } })
  await expectError(500, 'Failed to fetch combo', ['GET', '/api/combos/1'])
  await expectError(500, 'Failed to update combo', ['PUT', '/api/combos/1', {}])
  await expectError(500, 'Failed to delete combo', ['DELETE', '/api/combos/1'])
  await expectError(500, 'Failed to fetch combos', ['GET', '/api/combos'])
  await expectError(500, 'Failed to create combo', ['POST', '/api/combos', { name: 'a', models: ['x'] }])
  assert.is(errors.length, 5)
  for (const error of errors) assert.is(error instanceof Error && error.cause, broken)
})
