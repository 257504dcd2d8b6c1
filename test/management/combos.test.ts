import { assert, suite } from '../support/suite.ts'
import { openManagement, openManagementWith } from './open-management.ts'
import { listNames, strategies } from './strategy-names.ts'

const test = suite('combos')

const AT = '2026-01-01T00:00:00.000Z'

test('returns a created combo with its defaults', async () => {
  const { expect } = await openManagementWith(['openai/gpt-5', 'claude'])
  const models = ['openai/gpt-5', 'claude']
  const combo = await expect(201, 'POST', '/api/combos', { name: 'smart', models })
  assert.match(combo.id, /^[\w-]{36}$/)
  assert.equal(combo, { id: combo.id, name: 'smart', models, strategy: 'fallback', createdAt: AT, updatedAt: AT })
  assert.equal(await expect(200, 'GET', `/api/combos/${combo.id}`), combo)
})

test('a combo can have a kind and another strategy', async () => {
  const { expect } = await openManagementWith(['a/b'])
  const input = { name: 'pictures', models: ['a/b'], strategy: 'round-robin', kind: 'image' }
  const { id, createdAt, updatedAt, ...rest } = await expect(201, 'POST', '/api/combos', input)
  assert.equal(rest, input)
})

test('lists combos in creation order, even after one was renamed', async () => {
  const { expect } = await openManagementWith(['x'])
  assert.equal(await expect(200, 'GET', '/api/combos'), { combos: [] })
  const created = []
  for (const name of ['z', 'm', 'a', 'q'])
    created.push(await expect(201, 'POST', '/api/combos', { name, models: ['x'] }))
  assert.equal(await expect(200, 'GET', '/api/combos'), { combos: created })
  await expect(200, 'PUT', `/api/combos/${created[1]?.id}`, { name: 'zz' })
  const names = (await expect(200, 'GET', '/api/combos')).combos.map(({ name }) => name)
  assert.equal(names, ['z', 'zz', 'a', 'q'])
})

test('lists a combo of kind llm as a model', async () => {
  const { expect, send } = openManagement({ catalog: {} })
  await expect(201, 'POST', '/api/combos', { name: 'smart', models: ['x'] })
  await expect(201, 'POST', '/api/combos', { name: 'pictures', models: ['x'], kind: 'image' })
  const list: unknown = (await send('GET', '/v1/models')).body
  const created = Date.parse(AT) / 1_000
  assert.equal(list, { object: 'list', data: [{ id: 'smart', object: 'model', created, owned_by: 'combo' }] })
})

const bad = 'Name can only contain letters, numbers, -, _ and .'
const refusals: Array<[body: object, error: string]> = [
  [{ models: ['x'] }, '"name" is required and must not be blank'],
  [{ name: '', models: ['x'] }, '"name" is required and must not be blank'],
  [{ name: ' ', models: ['x'] }, bad],
  [{ name: 'a b', models: ['x'] }, bad],
  [{ name: 'a/b', models: ['x'] }, bad],
  [{ name: 'a\n', models: ['x'] }, bad],
  [{ name: 'ä', models: ['x'] }, bad],
  [{ name: 'a'.repeat(513), models: ['x'] }, '"name" must not be longer than 512 characters'],
  [{ name: 'a b'.repeat(513), models: ['x'] }, 'Name can only contain letters, numbers, -, _ and .'],
  [{ name: 5, models: ['x'] }, '"name" must be a string'],
  [{ name: 'a' }, '"models" is required and must be an array of model names'],
  [{ name: 'a', models: 'x' }, '"models" must be an array of model names'],
  [{ name: 'a', models: {} }, '"models" must be an array of model names'],
  [{ name: 'a', models: ['x', ' '] }, '"models[1]" must not be blank'],
  [{ name: 'a', models: [{ id: 'x' }] }, '"models[0].model" is required and must not be blank'],
  [{ name: 'a', models: ['x', 'y', null] }, '"models[2]" must be a string or an object with "model"'],
  [{ name: 'a', models: ['x\u0007'] }, '"models[0]" must not contain control characters'],
  [{ name: 'a', models: Array(101).fill('x') }, '"models" must not contain more than 100 models'],
  [{ name: 'a', models: ['x'.repeat(513)] }, '"models[0]" must not be longer than 512 characters'],
  [{ name: 'a', models: ['x'], strategy: 'best' }, `"strategy" must be one of ${listNames(strategies)}`],
  [
    { name: 'a', models: ['x'], kind: 'text' },
    '"kind" must be one of "llm", "image", "tts", "stt", "embedding", "imageToText", "webSearch", "webFetch", "rerank", "moderation"',
  ],
  [
    { name: 'a', models: ['x'], id: 'mine' },
    'Unknown field "id". Known: "name", "models", "strategy", "kind", "on", "stickyLimit", "connectionStrategy", "guards", "hedge", "sameVectors", "retryAmbiguous", "health", "maxAttempts", "timeouts".',
  ],
  [{ name: 'a', model: ['x'] }, 'Unknown field "model". Did you mean "models"?'],
]
for (const [body, error] of refusals) {
  test(`rejects creating the combo ${JSON.stringify(body).slice(0, 50)}: ${error.slice(0, 60)}`, async () => {
    const { expectError, expect } = openManagement()
    await expectError(400, error, ['POST', '/api/combos', body])
    assert.equal(await expect(200, 'GET', '/api/combos'), { combos: [] })
  })
}

for (const name of ['a', 'A-Z_0.9', '...', '-', '__proto__', 'constructor', 'a'.repeat(512)]) {
  test(`accepts the combo name "${name.slice(0, 20)}"`, async () => {
    const { expect } = openManagement()
    const { id } = await expect(201, 'POST', '/api/combos', { name, models: ['x'] })
    assert.is((await expect(200, 'GET', `/api/combos/${id}`)).name, name)
  })
}

test("a combo's name must be unique, and is case-sensitive", async () => {
  const { expect, expectError } = openManagement()
  await expect(201, 'POST', '/api/combos', { name: 'smart', models: ['x'] })
  await expectError(400, 'Combo name already exists', ['POST', '/api/combos', { name: 'smart', models: ['y'] }])
  await expect(201, 'POST', '/api/combos', { name: 'Smart', models: ['x'] })
})

test("a combo's model names are trimmed, and don't have to exist or be unique", async () => {
  const { expect } = openManagement()
  const combo = await expect(201, 'POST', '/api/combos', { name: 'a', models: [' later/model ', 'x', 'x'] })
  assert.equal(combo.models, ['later/model', 'x', 'x'])
})

test('a deleted combo disappears, and its name can be reused', async () => {
  const { expect, expectError } = openManagement()
  const { id } = await expect(201, 'POST', '/api/combos', { name: 'a', models: ['x'] })
  assert.equal(await expect(200, 'DELETE', `/api/combos/${id}`), { success: true })
  assert.equal(await expect(200, 'GET', '/api/combos'), { combos: [] })
  for (const method of ['GET', 'DELETE']) await expectError(404, 'Combo not found', [method, `/api/combos/${id}`])
  await expect(201, 'POST', '/api/combos', { name: 'a', models: ['x'] })
})

test("a combo can't be addressed by its name, and an unknown id gets a 404", async () => {
  const { expect, expectError } = openManagement()
  await expect(201, 'POST', '/api/combos', { name: 'a', models: ['x'] })
  for (const id of ['a', 'nobody', '%20', '..%2Fsettings', '%00']) {
    await expectError(404, 'Combo not found', ['GET', `/api/combos/${id}`])
    await expectError(404, 'Combo not found', ['DELETE', `/api/combos/${id}`])
    await expectError(404, 'Combo not found', ['PUT', `/api/combos/${id}`, {}])
  }
})

test('creates a combo without models, with a warning', async () => {
  const { expect, gateway } = await openManagementWith(['openai/x'])
  const warnings = ['The combo has no models, so requests for it fail with a 404.']
  const listWarnings = (body: { warnings?: string[] }) => body.warnings
  const created = await expect(201, 'POST', '/api/combos', { name: 'none', models: [] })
  assert.equal(listWarnings(created), warnings)
  const path = `/api/combos/${created.id}`
  assert.is(listWarnings(await expect(200, 'GET', path)), undefined)
  assert.equal(listWarnings(await gateway.api.combos.put({ name: 'none' })), warnings)
  assert.is(listWarnings(await expect(200, 'PUT', path, { models: ['openai/x'] })), undefined)
  assert.equal(listWarnings(await expect(200, 'PUT', path, { models: [] })), warnings)
})

test("creates and updates a combo whose models don't resolve, with a warning each time", async () => {
  const { expect, gateway } = openManagement()
  const { combos, connections, aliases } = gateway.api
  const full = 'No model in this combo resolves yet, so requests for it fail with a 404.'
  const openai = '"openai/gpt-5" doesn\'t resolve yet: there is no active connection to "openai".'
  const unknown = '"gpt" doesn\'t resolve yet: no model, combo, or alias has this name.'
  const models = ['openai/gpt-5', 'gpt']
  const created = await expect(201, 'POST', '/api/combos', { name: 'a', models })
  const path = `/api/combos/${created.id}`
  assert.equal(created.warnings, [full, openai, unknown])
  for (const response of [
    await expect(200, 'PUT', path, { ...created, strategy: 'random' }),
    await expect(200, 'PATCH', path, {}),
    await expect(200, 'PUT', '/api/combos', { name: 'a' }),
    await combos.put({ name: 'b', models }),
    await combos.create({ name: 'c', models }),
    await combos.update(created.id, { hedge: true }),
  ])
    assert.equal(response.warnings, [full, openai, unknown])
  assert.is((await expect(200, 'GET', path)).warnings, undefined)

  const outer = await combos.put({ name: 'outer', models: ['a', { model: 'openai/gpt-5', weight: 2 }] })
  assert.equal(outer.warnings, [full, '"a" doesn\'t resolve yet: there is no active connection to "openai".', openai])
  assert.equal((await aliases.set({ alias: 'quick', model: 'outer' })).warnings, [
    'The alias doesn\'t resolve yet: it points to "outer", but there is no active connection to "openai".',
  ])

  await connections.put({ id: 'main', provider: 'openai' })
  assert.equal((await combos.put({ name: 'a' })).warnings, [unknown], "only the entry that doesn't resolve is listed")
  assert.is((await combos.put({ name: 'outer' })).warnings, undefined)
  assert.is((await combos.put({ name: 'a', models: ['openai/gpt-5'] })).warnings, undefined)
  await connections.put({ id: 'main', provider: 'openai', isActive: false })
  assert.equal((await combos.put({ name: 'a' })).warnings, [full, openai])
})

test("a combo's warning lists ten of its unresolved models, and counts the rest", async () => {
  const { combos } = openManagement().gateway.api
  const models = Array.from({ length: 30 }, (_, index) => `nothing-${index}`)
  const { warnings = [] } = await combos.create({ name: 'a', models })
  assert.is(warnings.length, 12)
  assert.is(warnings.at(-1), "20 more of its models don't resolve yet.")
})
